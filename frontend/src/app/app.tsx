import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'

import { authState, subscribeAuth } from '../api/auth'
import { AskForm } from '../features/ask/ask-form'
import { useLanguage, useText } from '../i18n/text'
import { Announcer } from '../shared/announcer'
import { parseRoute, usePath } from '../shared/route'
import { KeyGate } from './key-gate'
import { Shell } from './shell'
import { ThreadPage } from './thread-page'

/** The page: which view the address asks for, in the language chosen, behind the key. */
export function App() {
  const text = useText()
  const language = useLanguage()
  const route = parseRoute(usePath())
  const auth = useSyncExternalStore(subscribeAuth, authState)
  const [generation, setGeneration] = useState(0)
  const historyChanged = useCallback(() => setGeneration((n) => n + 1), [])
  const threadId = route.page === 'thread' ? route.threadId : null

  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en'
  }, [language])
  const shown = useRef(threadId)
  useEffect(() => {
    // Another view was opened: the keyboard and the screen reader go on from its start.
    if (threadId !== null && shown.current !== threadId) document.getElementById('main')?.focus()
    shown.current = threadId
  }, [threadId])
  useEffect(() => {
    if (threadId === null) document.title = text.appName
  }, [threadId, text])

  return (
    <>
      <a className="skip" href="#main">
        {text.skipToContent}
      </a>
      <Announcer />
      {auth.needed && <KeyGate refused={auth.refused} />}
      <Shell key={auth.generation} threadId={threadId} generation={generation}>
        {threadId === null ? (
          <div className="home">
            <h1>{text.askTitle}</h1>
            <p className="lead">{text.askLead}</p>
            <AskForm onStarted={historyChanged} />
          </div>
        ) : (
          <ThreadPage key={threadId} threadId={threadId} onHistoryChanged={historyChanged} />
        )}
      </Shell>
    </>
  )
}
