import type { Estimate } from '../../api/types'
import { compactNumber, duration, money } from '../../i18n/format'
import { useLanguage, useText } from '../../i18n/text'

/** What the plan may take: always as a range, and with what the range rests on. */
export function EstimateLine({ estimate }: { estimate: Partial<Estimate> | undefined }) {
  const text = useText()
  const language = useLanguage()
  if (estimate === undefined) return null
  const range = (pair: [number, number] | undefined, show: (n: number) => string) => {
    if (pair === undefined || pair[1] <= 0) return null
    const [low, high] = [show(pair[0]), show(pair[1])]
    return low === high ? low : text.estimateRange(low, high)
  }
  const tokens = range(estimate.tokens, (n) => compactNumber(n, language))
  const parts = [
    range(estimate.seconds, (n) => duration(n, language)),
    tokens === null ? null : text.estimateTokens(tokens),
    range(estimate.cost_usd, (n) => money(n, language)),
  ].filter((part) => part !== null)
  if (parts.length === 0) return null
  const seen = estimate.runs_seen ?? 0
  return (
    <p className="estimate">
      <span>{text.estimate}: </span>
      {parts.join(' · ')}{' '}
      <span className="quiet">({seen > 0 ? text.estimateSeen(seen) : text.estimateGuess})</span>
    </p>
  )
}
