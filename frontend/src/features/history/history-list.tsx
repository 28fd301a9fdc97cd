import { useText, useLanguage } from '../../i18n/text'
import { day } from '../../i18n/format'
import { STATUS_TEXT } from '../../i18n/status'
import { Link } from '../../shared/link'
import { ProblemNote } from '../../shared/problem-note'
import { threadPath } from '../../shared/route'
import { useHistory } from './use-history'

interface Props {
  current: string | null
  /** Rises when the list may have changed. */
  generation: number
  onFollow: () => void
}

export function HistoryList({ current, generation, onFollow }: Props) {
  const text = useText()
  const language = useLanguage()
  const { query, setQuery, threads, more, problem, loaded } = useHistory(generation)
  return (
    <>
      <label className="visually-hidden" htmlFor="history-search">
        {text.historySearch}
      </label>
      <input
        id="history-search"
        className="history-search"
        type="search"
        dir="auto"
        value={query}
        placeholder={text.historySearch}
        onChange={(event) => setQuery(event.target.value)}
      />
      <ProblemNote problem={problem} />
      {loaded && threads.length === 0 && (
        <p className="quiet history-none">{query ? text.historyNone : text.historyEmpty}</p>
      )}
      <ul className="history-list">
        {threads.map((thread) => (
          <li key={thread.thread_id}>
            <Link
              className="history-item"
              data-testid="history-item"
              href={threadPath(thread.thread_id)}
              aria-current={thread.thread_id === current ? 'page' : undefined}
              onClick={onFollow}
            >
              <span className="history-title" dir="auto">
                {thread.title || thread.question}
              </span>
              <span className="history-meta">
                <span className="dot" data-status={thread.status} />
                {text[STATUS_TEXT[thread.status]]} · {day(thread.created_at, language)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {more !== null && (
        <button type="button" className="plain" onClick={more}>
          {text.historyMore}
        </button>
      )}
    </>
  )
}
