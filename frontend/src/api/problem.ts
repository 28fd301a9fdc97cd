import type { Problem } from './types'

/** Any answer that is not a success, as the problem body the server sent (or would have). */
export class ProblemError extends Error {
  readonly problem: Problem
  /** Seconds to wait before another try, where the server says so. */
  readonly retryAfter: number | null

  constructor(problem: Problem, retryAfter: number | null = null) {
    super(problem.detail ?? problem.title)
    this.name = 'ProblemError'
    this.problem = problem
    this.retryAfter = retryAfter
  }

  get status(): number {
    return this.problem.status
  }

  /** `run-active` of `/problems/run-active`. */
  get kind(): string {
    return problemKind(this.problem)
  }
}

export function problemKind(problem: Pick<Problem, 'type'>): string {
  return problem.type.split('/').pop() ?? ''
}

/** Reads a failed response; a body that is no problem still gives one. */
export async function toProblem(response: Response): Promise<ProblemError> {
  const fallback: Problem = {
    type: 'about:blank',
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
  }
  let problem = fallback
  try {
    const body: unknown = await response.json()
    if (typeof body === 'object' && body !== null) problem = { ...fallback, ...body }
  } catch {
    // Not JSON: a proxy's page, or a body that was cut. The status alone must do.
  }
  return new ProblemError(problem, retryAfter(response.headers.get('Retry-After')))
}

function retryAfter(header: string | null): number | null {
  if (header === null) return null
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000)
}

/** What could not even be sent or received: the network, not the server, said no. */
export function offlineProblem(): ProblemError {
  return new ProblemError({ type: '/problems/offline', title: 'Server not reachable', status: 0 })
}

export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  return offlineProblem()
}
