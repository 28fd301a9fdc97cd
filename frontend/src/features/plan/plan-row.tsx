import { type KeyboardEvent, memo } from 'react'

import { useText } from '../../i18n/text'
import type { Row } from './edited-plan'

interface Props {
  row: Row
  place: number
  count: number
  busy: boolean
  onChange: (row: Row) => void
  onMove: (row: string, by: -1 | 1, control: string) => void
  onRemove: (row: string) => void
}

/** One step of the plan, to edit. Alt with an arrow key moves it, as its buttons do. */
export const PlanRow = memo(function PlanRow(props: Props) {
  const { row, place, count, busy, onChange, onMove, onRemove } = props
  const text = useText()
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
    if (!event.altKey || by === 0) return
    event.preventDefault()
    onMove(row.row, by, (event.target as HTMLElement).dataset['control'] ?? 'title')
  }
  const noBreak = (event: KeyboardEvent) => {
    if (event.key === 'Enter') event.preventDefault()
  }
  return (
    <li className="plan-row" data-row={row.row} onKeyDown={onKey}>
      <span className="plan-number" aria-hidden="true">
        {place}
      </span>
      <div className="plan-fields">
        <textarea
          className="plan-title"
          data-testid="plan-step-title"
          data-control="title"
          aria-label={text.stepTitle(place)}
          dir="auto"
          rows={1}
          maxLength={500}
          readOnly={busy}
          value={row.title}
          onKeyDown={noBreak}
          onChange={(event) => onChange({ ...row, title: event.target.value.replace(/\n/g, ' ') })}
        />
        <label className="plan-queries">
          <span>{text.stepQueries}</span>
          <textarea
            data-control="queries"
            dir="auto"
            rows={2}
            readOnly={busy}
            value={row.queries}
            onChange={(event) => onChange({ ...row, queries: event.target.value })}
          />
        </label>
      </div>
      <div className="plan-buttons">
        <button
          type="button"
          data-control="up"
          aria-label={text.stepUp(place)}
          title={text.stepUp(place)}
          disabled={busy || place === 1}
          onClick={() => onMove(row.row, -1, 'up')}
        >
          ↑
        </button>
        <button
          type="button"
          data-control="down"
          aria-label={text.stepDown(place)}
          title={text.stepDown(place)}
          disabled={busy || place === count}
          onClick={() => onMove(row.row, 1, 'down')}
        >
          ↓
        </button>
        <button
          type="button"
          data-control="remove"
          aria-label={text.stepRemove(place)}
          title={text.stepRemove(place)}
          disabled={busy || count === 1}
          onClick={() => onRemove(row.row)}
        >
          ×
        </button>
      </div>
    </li>
  )
})
