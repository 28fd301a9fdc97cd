import { useCallback, useLayoutEffect, useRef, useState } from 'react'

import type { Answer, Interrupt, Problem } from '../../api/types'
import { useText } from '../../i18n/text'
import { useDraft } from '../../shared/draft'
import { ProblemNote } from '../../shared/problem-note'
import { uuid } from '../../shared/uuid'
import { isEdited, moved, type Row, toAnswer, toRows } from './edited-plan'
import { EstimateLine } from './estimate-line'
import { PlanRow } from './plan-row'

interface Props {
  interrupt: Interrupt
  busy: boolean
  problem: Problem | null
  onAnswer: (answer: Answer, onAccepted: () => void) => void
}

/** The plan under review: rows to change, then approve, or a wish in words. */
export function PlanEditor({ interrupt, busy, problem, onAnswer }: Props) {
  const text = useText()
  const steps = interrupt.payload.steps ?? []
  const [draft, setDraft, clear] = useDraft(`plan.${interrupt.id}`, {
    rows: toRows(steps),
    feedback: '',
  })
  const [missing, setMissing] = useState(false)
  const list = useRef<HTMLOListElement>(null)
  const focus = useRef<{ row: string; control: string } | null>(null)
  const latest = useRef(draft)

  useLayoutEffect(() => {
    latest.current = draft
    if (focus.current === null) return
    const { row, control } = focus.current
    focus.current = null
    const buttons = list.current?.querySelector(`[data-row="${CSS.escape(row)}"]`)
    const wanted = buttons?.querySelector<HTMLButtonElement>(`[data-control="${control}"]`)
    const target = wanted?.disabled === false ? wanted : buttons?.querySelector('textarea')
    target?.focus()
  }, [draft])

  const setRows = useCallback(
    (rows: Row[]) => {
      setMissing(false)
      setDraft({ ...latest.current, rows })
    },
    [setDraft],
  )
  const onChange = useCallback(
    (row: Row) => setRows(latest.current.rows.map((old) => (old.row === row.row ? row : old))),
    [setRows],
  )
  const onMove = useCallback(
    (row: string, by: -1 | 1, control: string) => {
      const { rows } = latest.current
      const from = rows.findIndex((old) => old.row === row)
      focus.current = { row, control }
      setRows(moved(rows, from, from + by))
    },
    [setRows],
  )
  const onRemove = useCallback(
    (row: string) => {
      const { rows } = latest.current
      const at = rows.findIndex((old) => old.row === row)
      const left = rows.toSpliced(at, 1)
      const next = left[Math.min(at, left.length - 1)]
      if (next !== undefined) focus.current = { row: next.row, control: 'remove' }
      setRows(left)
    },
    [setRows],
  )
  const onAdd = () => {
    const row: Row = { row: uuid(), id: null, title: '', queries: '' }
    focus.current = { row: row.row, control: 'title' }
    setRows([...draft.rows, row])
  }

  const approve = () => {
    const empty = draft.rows.find((row) => !row.title.trim())
    setMissing(empty !== undefined)
    if (empty === undefined) {
      onAnswer(toAnswer(draft.rows, steps), clear)
      return
    }
    list.current
      ?.querySelector<HTMLElement>(`[data-row="${CSS.escape(empty.row)}"] textarea`)
      ?.focus()
  }
  const edited = isEdited(draft.rows, steps)

  return (
    <section className="card" aria-labelledby="plan-heading">
      <h2 id="plan-heading">{text.planReview}</h2>
      <p className="quiet">{text.planLead}</p>
      <ol className="plan-rows" ref={list}>
        {draft.rows.map((row, index) => (
          <PlanRow
            key={row.row}
            row={row}
            place={index + 1}
            count={draft.rows.length}
            busy={busy}
            onChange={onChange}
            onMove={onMove}
            onRemove={onRemove}
          />
        ))}
      </ol>
      <div className="row">
        <button type="button" data-testid="plan-add" onClick={onAdd} disabled={busy}>
          {text.stepAdd}
        </button>
        {edited && (
          <button
            type="button"
            className="plain"
            disabled={busy}
            onClick={() => setRows(toRows(steps))}
          >
            {text.planReset}
          </button>
        )}
        <span className="quiet wide-only">{text.planKeys}</span>
      </div>
      <EstimateLine estimate={interrupt.payload.estimate} />
      {missing && (
        <p className="problem" role="alert">
          {text.stepMissing}
        </p>
      )}
      <ProblemNote problem={problem} />
      <div className="row">
        <button
          type="button"
          className="primary"
          data-testid="plan-approve"
          disabled={busy}
          onClick={approve}
        >
          {busy ? text.sending : edited ? text.approveEdited : text.approve}
        </button>
      </div>
      <form
        className="revise"
        onSubmit={(event) => {
          event.preventDefault()
          const feedback = draft.feedback.trim()
          if (feedback && !busy) onAnswer({ action: 'revise', feedback }, clear)
        }}
      >
        <label htmlFor="revise">{text.reviseLabel}</label>
        <textarea
          id="revise"
          data-testid="plan-feedback"
          dir="auto"
          rows={2}
          value={draft.feedback}
          readOnly={busy}
          placeholder={text.revisePlaceholder}
          onChange={(event) => setDraft({ ...draft, feedback: event.target.value })}
        />
        <button type="submit" data-testid="plan-revise" disabled={busy || !draft.feedback.trim()}>
          {text.revise}
        </button>
      </form>
    </section>
  )
}
