import { type ReactNode, useEffect, useRef, useState } from 'react'

import { HistoryList } from '../features/history/history-list'
import { chooseLanguage, useLanguage, useText } from '../i18n/text'
import { Link } from '../shared/link'

interface Props {
  threadId: string | null
  generation: number
  children: ReactNode
}

/** History at the left (behind a button on a small screen), the work beside it. */
export function Shell({ threadId, generation, children }: Props) {
  const text = useText()
  const language = useLanguage()
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => setOpen(false)

  useEffect(() => {
    if (!open) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      setOpen(false)
      button.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [open])

  return (
    <div className="shell" data-history={open ? 'open' : 'closed'}>
      <header className="top">
        <button
          ref={button}
          type="button"
          className="icon history-toggle"
          aria-expanded={open}
          aria-controls="history"
          aria-label={open ? text.closeHistory : text.openHistory}
          onClick={() => setOpen(!open)}
        >
          <span className="bars" aria-hidden="true" />
        </button>
        <Link className="brand" href="/" onClick={close}>
          {text.appName}
        </Link>
        <button
          type="button"
          className="plain language"
          data-testid="ui-language"
          title={text.language}
          lang={language === 'zh' ? 'en' : 'zh'}
          onClick={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
        >
          {language === 'zh' ? 'English' : '中文'}
        </button>
      </header>
      <nav className="history" id="history" aria-label={text.history}>
        <Link className="new-question" href="/" onClick={close}>
          {text.newQuestion}
        </Link>
        <HistoryList current={threadId} generation={generation} onFollow={close} />
      </nav>
      {open && <div className="veil" onClick={close} aria-hidden="true" />}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
