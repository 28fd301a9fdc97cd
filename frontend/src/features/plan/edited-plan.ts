import type { Answer, EditedStep, Step } from '../../api/types'

/** A row of the editor. `row` names it on the page only; `id` is the plan's, if it has one. */
export interface Row {
  row: string
  id: string | null
  title: string
  queries: string
}

export function toRows(steps: Step[]): Row[] {
  return steps.map((step) => ({
    row: step.id,
    id: step.id,
    title: step.title,
    queries: step.queries.join('\n'),
  }))
}

function toQueries(text: string): string[] {
  return text
    .split('\n')
    .map((query) => query.trim())
    .filter(Boolean)
}

/** What was meant with a title that the reader has rewritten is no longer known: left out. */
function toStep(row: Row, steps: Step[]): EditedStep {
  const before = steps.find((step) => step.id === row.id)
  const title = row.title.trim()
  return {
    ...(row.id === null ? {} : { id: row.id }),
    title,
    intent: before?.title === title ? before.intent : '',
    queries: toQueries(row.queries),
  }
}

export function isEdited(rows: Row[], steps: Step[]): boolean {
  return JSON.stringify(rows) !== JSON.stringify(toRows(steps))
}

export function toAnswer(rows: Row[], steps: Step[]): Answer {
  return isEdited(rows, steps)
    ? { action: 'edit', steps: rows.map((row) => toStep(row, steps)) }
    : { action: 'approve' }
}

export function moved(rows: Row[], from: number, to: number): Row[] {
  const row = rows[from]
  if (row === undefined || to < 0 || to >= rows.length) return rows
  return rows.toSpliced(from, 1).toSpliced(to, 0, row)
}
