import { type SyntheticEvent, type KeyboardEvent } from 'react'

import { modifyThread } from '../../api/threads'
import type { Requirement } from '../../api/types'
import type { TextKey } from '../../i18n/en'
import { useText } from '../../i18n/text'
import { useDraft } from '../../shared/draft'
import { ProblemNote } from '../../shared/problem-note'
import { useSubmissionKey } from '../../shared/submission-key'
import { useAction } from '../../shared/use-action'
import { isActive, type View } from '../../state/view'

interface Props {
  view: View
  /** Called with what the server took, and whether that made a new run. */
  onAdded: (requirement: Requirement, newRun: boolean) => void
}

/** A wish that comes later: taken at any time, with what became of each. */
export function RequirementBox({ view, onAdded }: Props) {
  const text = useText()
  const [wish, setWish] = useDraft(`requirement.${view.threadId}`, '')
  const { busy, problem, run } = useAction()
  const key = useSubmissionKey()

  const send = (event?: SyntheticEvent) => {
    event?.preventDefault()
    const message = wish.trim()
    if (!message || busy) return
    run(async () => {
      const taken = await modifyThread(view.threadId, { message }, key.of(message))
      key.forget()
      setWish('')
      const requirement = { id: taken.requirement_id, status: taken.status, message }
      onAdded(requirement, !isActive(view.status) && view.status !== 'waiting')
    })
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
  }

  return (
    <section className="requirements" aria-labelledby="requirement-heading">
      <h2 id="requirement-heading">{text.requirementTitle}</h2>
      <Requirements list={view.requirements} />
      <form onSubmit={send}>
        <label className="visually-hidden" htmlFor="requirement">
          {text.requirementLabel}
        </label>
        <textarea
          id="requirement"
          data-testid="requirement-input"
          dir="auto"
          rows={2}
          value={wish}
          placeholder={text.requirementPlaceholder}
          aria-describedby="requirement-when"
          onChange={(event) => setWish(event.target.value)}
          onKeyDown={onKey}
        />
        <ProblemNote problem={problem} />
        <div className="row">
          <button type="submit" data-testid="requirement-send" disabled={busy || !wish.trim()}>
            {busy ? text.sending : text.requirementSend}
          </button>
          <span id="requirement-when" className="quiet">
            {text[whenTaken(view)]}
          </span>
        </div>
      </form>
    </section>
  )
}

function whenTaken(view: View): TextKey {
  if (isActive(view.status)) return 'requirementRunning'
  if (view.status === 'waiting') return 'requirementWaiting'
  return view.status === 'succeeded' ? 'requirementFinished' : 'requirementStopped'
}

const STATUS: Record<string, TextKey> = {
  queued: 'requirementQueued',
  applied: 'requirementApplied',
  rejected: 'requirementRejected',
}

function Requirements({ list }: { list: Requirement[] }) {
  const text = useText()
  if (list.length === 0) return null
  return (
    <ul className="requirement-list">
      {list.map((item) => {
        const status = STATUS[item.status]
        return (
          <li key={item.id} data-testid="requirement" data-status={item.status}>
            <span dir="auto">{item.message ?? '…'}</span>{' '}
            <span className="tag" data-status={item.status}>
              {status === undefined ? item.status : text[status]}
            </span>
            {item.reason && (
              <span className="quiet" dir="auto">
                {item.reason}
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}
