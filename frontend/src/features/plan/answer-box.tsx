import { useState } from 'react'

import { answerInterrupt } from '../../api/threads'
import type { Answer, Interrupt } from '../../api/types'
import { useText } from '../../i18n/text'
import { useSubmissionKey } from '../../shared/submission-key'
import { useAction } from '../../shared/use-action'
import { ClarifyForm } from './clarify-form'
import { PlanEditor } from './plan-editor'

interface Props {
  threadId: string
  interrupt: Interrupt
  onAnswered: () => void
}

/** The form that an interrupt asks for. What was typed stays until the server has taken it. */
export function AnswerBox({ threadId, interrupt, onAnswered }: Props) {
  const text = useText()
  const { busy, problem, run } = useAction()
  const [taken, setTaken] = useState(false)
  const key = useSubmissionKey()
  const onAnswer = (value: Answer, onAccepted: () => void) => {
    run(async () => {
      await answerInterrupt(threadId, interrupt.id, value, key.of(value))
      setTaken(true) // the form stays closed until the state no longer shows it
      onAccepted()
      onAnswered()
    })
  }
  const props = { interrupt, busy: busy || taken, problem, onAnswer }
  if (interrupt.kind === 'review_plan') return <PlanEditor {...props} />
  if (interrupt.kind === 'clarify') return <ClarifyForm {...props} />
  return <p className="card">{interrupt.kind === 'job' ? text.waitingJob : text.waitingOther}</p>
}
