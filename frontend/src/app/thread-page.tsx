import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'

import { useText } from '../i18n/text'
import { problemLine } from '../i18n/problems'
import { Link } from '../shared/link'
import type { Passage } from '../shared/passage'
import { ThreadStore } from '../state/store'
import { LinkBanner } from './link-banner'
import { ThreadView } from './thread-view'
import { useAnnouncements } from './use-announcements'

interface Props {
  threadId: string
  onHistoryChanged: () => void
}

/** One thread: opens its store, and says so where there is nothing to show. */
export function ThreadPage({ threadId, onHistoryChanged }: Props) {
  const text = useText()
  const store = useMemo(() => new ThreadStore(threadId), [threadId])
  useEffect(() => store.open(), [store])
  const { view, link, fatal } = useSyncExternalStore(store.subscribe, store.snapshot)
  const [passage, setPassage] = useState<Passage | null>(null)
  const opener = useRef<HTMLElement | null>(null)
  const open = useCallback((next: Passage, from: HTMLElement) => {
    opener.current = from
    setPassage(next)
  }, [])
  const close = useCallback(() => {
    setPassage(null)
    opener.current?.focus()
  }, [])
  useAnnouncements(view)

  const status = view?.status
  const title = view?.title
  const listed = useRef('')
  useEffect(() => {
    if (status === undefined) return
    const now = `${status} ${title ?? ''}`
    if (listed.current !== '' && listed.current !== now) onHistoryChanged()
    listed.current = now
  }, [status, title, onHistoryChanged])

  if (fatal !== null && fatal.status !== 401) {
    return (
      <div className="thread-missing">
        <p role="alert">
          {fatal.status === 404 ? text.threadMissing : problemLine(text, fatal.problem)}
        </p>
        <p>
          <Link href="/">{text.backHome}</Link>{' '}
          {fatal.status !== 404 && (
            <button type="button" onClick={store.reload}>
              {text.retry}
            </button>
          )}
        </p>
      </div>
    )
  }
  return (
    <>
      <LinkBanner link={link} />
      {view === null ? (
        <p className="quiet loading">{text.loading}</p>
      ) : (
        <ThreadView {...{ view, store, passage, open, close }} />
      )}
    </>
  )
}
