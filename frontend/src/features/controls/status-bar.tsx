import { useEffect, useState } from 'react'

import { cancelThread, resumeThread } from '../../api/threads'
import { clock, compactNumber, duration, money } from '../../i18n/format'
import { nodeText } from '../../i18n/nodes'
import { problemLine } from '../../i18n/problems'
import { STATUS_TEXT } from '../../i18n/status'
import { useLanguage, useText } from '../../i18n/text'
import { ProblemNote } from '../../shared/problem-note'
import { useAction } from '../../shared/use-action'
import { uuid } from '../../shared/uuid'
import { isActive, type View } from '../../state/view'

/** How the thread stands, in plain words, and the one control that fits: the server decides. */
export function StatusBar({ view, onChanged }: { view: View; onChanged: () => void }) {
  const text = useText()
  const language = useLanguage()
  const { busy, problem, run } = useAction()
  const stopping = view.stopping && isActive(view.status)
  const status = stopping ? 'stopping' : view.status
  const work = view.running.at(-1)
  const details = [
    work && isActive(view.status) && !stopping ? nodeText(text, work.node) : null,
    view.status === 'pending' && view.queue ? text.queuePosition(view.queue.position) : null,
    view.status === 'pending' && view.queue?.eta_seconds
      ? text.queueEta(duration(view.queue.eta_seconds, language))
      : null,
  ].filter((part) => part !== null)
  const usage = view.usage
  const spent = usage === null ? 0 : usage.input_tokens + usage.output_tokens

  const stop = () =>
    run(async () => {
      await cancelThread(view.threadId, 'stop')
      // A run that waited for its place ends at once, maybe before its event arrives.
      if (view.status === 'pending') onChanged()
    })
  const resume = () =>
    run(async () => {
      await resumeThread(view.threadId, uuid())
      onChanged()
    })

  return (
    <div className="status-bar">
      <div className="status-words">
        <span className="status" data-testid="status" data-status={status}>
          <span className="dot" data-status={status} />
          {text[STATUS_TEXT[status]]}
        </span>
        {details.map((part) => (
          <span key={part} className="quiet">
            {part}
          </span>
        ))}
        <Elapsed view={view} />
        {spent > 0 && (
          <span className="quiet" data-testid="tokens">
            {text.tokensUsed(compactNumber(spent, language))}
            {usage !== null && usage.cost_usd > 0 && ` · ${money(usage.cost_usd, language)}`}
          </span>
        )}
      </div>
      <div className="status-control">
        {isActive(view.status) && (
          <button type="button" data-testid="stop" disabled={stopping || busy} onClick={stop}>
            {stopping ? text.stopping : text.stop}
          </button>
        )}
        {(view.status === 'failed' ||
          view.status === 'cancelled' ||
          view.status === 'interrupted') && (
          <button
            type="button"
            className="primary"
            data-testid="resume"
            disabled={busy}
            onClick={resume}
          >
            {busy ? text.resuming : text.resume}
          </button>
        )}
      </div>
      {view.status === 'failed' && view.problem !== null && (
        <p className="problem" data-testid="failure" dir="auto">
          {problemLine(text, view.problem)}
        </p>
      )}
      <ProblemNote problem={problem} />
    </div>
  )
}

/** Time since the start, to the end once there is one; ticks only while work goes on. */
function Elapsed({ view }: { view: View }) {
  const text = useText()
  const [now, setNow] = useState(() => Date.now())
  const ticking = isActive(view.status)
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [ticking])
  if (view.startedAt === null) return null
  const end = view.endedAt === null ? now : Date.parse(view.endedAt)
  const seconds = (end - Date.parse(view.startedAt)) / 1000
  if (!Number.isFinite(seconds)) return null
  return (
    <span className="quiet clock" aria-label={text.elapsed}>
      {clock(seconds)}
    </span>
  )
}
