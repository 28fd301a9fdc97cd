import { useRef } from 'react'

import type { Answer, Interrupt, Problem } from '../../api/types'
import { useText } from '../../i18n/text'
import { useDraft } from '../../shared/draft'
import { ProblemNote } from '../../shared/problem-note'

interface Props {
  interrupt: Interrupt
  busy: boolean
  problem: Problem | null
  onAnswer: (answer: Answer, onAccepted: () => void) => void
}

/** A question back to the reader. Options are suggestions that fill the field. */
export function ClarifyForm({ interrupt, busy, problem, onAnswer }: Props) {
  const text = useText()
  const [answer, setAnswer, clear] = useDraft(`clarify.${interrupt.id}`, '')
  const field = useRef<HTMLTextAreaElement>(null)
  const options = interrupt.payload.options ?? []
  return (
    <form
      className="card"
      aria-labelledby="clarify-heading"
      onSubmit={(event) => {
        event.preventDefault()
        if (answer.trim() && !busy) onAnswer({ text: answer.trim() }, clear)
      }}
    >
      <h2 id="clarify-heading">{text.clarifyTitle}</h2>
      <p className="clarify-question" dir="auto">
        {interrupt.payload.question}
      </p>
      {options.length > 0 && (
        <div className="options" role="group" aria-label={text.clarifyOptions}>
          {options.map((option) => (
            <button
              key={option}
              type="button"
              data-testid="clarify-option"
              dir="auto"
              disabled={busy}
              onClick={() => {
                setAnswer(option)
                field.current?.focus()
              }}
            >
              {option}
            </button>
          ))}
        </div>
      )}
      <label htmlFor="clarify">{text.clarifyLabel}</label>
      <textarea
        ref={field}
        id="clarify"
        data-testid="clarify-text"
        dir="auto"
        rows={2}
        value={answer}
        readOnly={busy}
        onChange={(event) => setAnswer(event.target.value)}
      />
      <ProblemNote problem={problem} />
      <div className="row">
        <button
          type="submit"
          className="primary"
          data-testid="clarify-send"
          disabled={busy || !answer.trim()}
        >
          {busy ? text.sending : text.clarifySend}
        </button>
      </div>
    </form>
  )
}
