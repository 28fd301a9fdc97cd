import type { RunSummary, StreamEvent } from '../api/types'

/**
 * Decides after which events the state must be read again: after a gap, and after a start that
 * is not a first one (what it does not keep of earlier work, only the state knows). It never
 * asks twice for the same cause, so that following and reading cannot chase each other.
 */
export class RereadRule {
  #run: RunSummary | null = null
  #cursor = ''
  readonly #asked = new Set<string>()

  /** Tells what the state that was just read already knows. */
  adopted(run: RunSummary | null, cursor: string): void {
    this.#run = run
    this.#cursor = cursor
  }

  asks({ id, name, data }: StreamEvent): boolean {
    if (name === 'gap') return this.#once(`gap after ${this.#cursor}`)
    if (name !== 'run.started') return false
    const { run_id, kind, attempt } = data as unknown as RunSummary
    if (kind === 'start' && attempt <= 1) return false
    if (this.#run?.run_id === run_id && this.#run.attempt === attempt) return false
    return this.#once(`start ${run_id} ${attempt} ${id ?? ''}`)
  }

  /** Tells the place a later gap would start from. */
  passed(cursor: string): void {
    this.#cursor = cursor
  }

  #once(cause: string): boolean {
    if (this.#asked.has(cause)) return false
    this.#asked.add(cause)
    return true
  }
}
