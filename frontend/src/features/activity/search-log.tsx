import { useText } from '../../i18n/text'
import type { View } from '../../state/view'

/** Searches, what they found, and what failed: failures are told, never hidden. */
export function SearchLog({ view }: { view: View }) {
  const text = useText()
  const failed = view.searches.filter((search) => typeof search.failed === 'string')
  const failures = [
    ...failed.map((search) => ({ what: search.query, reason: search.failed ?? '' })),
    ...view.failures,
  ]
  return (
    <>
      {view.searches.length > failed.length && (
        <details className="log">
          <summary>{text.searches}</summary>
          <ul>
            {view.searches
              .filter((search) => typeof search.failed !== 'string')
              .map((search) => (
                <li key={`${search.provider} ${search.step} ${search.query}`}>
                  <span dir="auto">{search.query}</span>{' '}
                  <span className="quiet">
                    {search.provider}, {text.hits(search.hits ?? 0)}
                  </span>
                </li>
              ))}
          </ul>
        </details>
      )}
      {failures.length > 0 && (
        <details className="log" open>
          <summary>{text.failures}</summary>
          <ul>
            {failures.map((failure, index) => (
              <li key={index}>
                <span dir="auto">{failure.what}</span>{' '}
                <span className="quiet" dir="auto">
                  {failure.reason}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {view.retries.length > 0 && (
        <details className="log">
          <summary>{text.retries}</summary>
          <ul>
            {view.retries.map((retry, index) => (
              <li key={index} dir="auto">
                {retry.what} <span className="quiet">{retry.reason}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {view.findings.length > 0 && (
        <details className="log">
          <summary>{text.findings}</summary>
          <ul>
            {view.findings.map((finding, index) => (
              <li key={index} dir="auto">
                {finding.text}
              </li>
            ))}
          </ul>
        </details>
      )}
      {view.openQuestions.length > 0 && (
        <details className="log">
          <summary>{text.openQuestions}</summary>
          <ul>
            {view.openQuestions.map((question) => (
              <li key={question} dir="auto">
                {question}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
