import { backoff, isAborted, pause } from './backoff'
import { compareIds } from './cursor'
import { send } from './http'
import { asProblem, type ProblemError } from './problem'
import { readEvents } from './sse'
import type { StreamEvent } from './types'

/** How the stream is doing: `lost` until it is back, with the reason where there is one. */
export type Link = { state: 'live' } | { state: 'lost'; problem: ProblemError | null }

export interface FollowHooks {
  /** Takes one event. `reread` ends the following: the state must be read afresh. */
  onEvent: (event: StreamEvent) => 'go' | 'reread'
  onLink: (link: Link) => void
  /** True for the events after which a stream may end for good. */
  isEnding: (name: string) => boolean
}

/** Silence after which a stream is taken for dead: several heartbeats of the server. */
const SILENCE_MS = 75_000

/**
 * Follows a thread's events from `after` until they have ended, over any number of connections.
 * Returns `reread` when a hook asked for it. Raises ProblemError where another try is useless
 * (401, 403, 404 and the like).
 */
export async function follow(
  thread: string,
  after: string,
  hooks: FollowHooks,
  signal: AbortSignal,
): Promise<'ended' | 'reread' | 'aborted'> {
  const at: Place = { cursor: after, failures: 0, base: 500 }
  for (;;) {
    const outcome = await connect(thread, at, hooks, signal)
    if (isAborted(signal)) return 'aborted'
    if (outcome.how !== 'lost') return outcome.how
    const { problem } = outcome
    if (problem !== null && isFinal(problem)) throw problem
    hooks.onLink({ state: 'lost', problem })
    const delay = backoff(at.failures, at.base)
    at.failures += 1
    await pause(delay + (problem?.retryAfter ?? 0) * 1000, signal, globalThis)
    if (isAborted(signal)) return 'aborted'
  }
}

interface Place {
  cursor: string
  /** Connections in a row that gave no event. */
  failures: number
  /** Shortest wait between two of them, in milliseconds. */
  base: number
}

type Outcome = { how: 'ended' | 'reread' } | { how: 'lost'; problem: ProblemError | null }

/** One connection, to its end, however it ends. */
async function connect(
  thread: string,
  at: Place,
  hooks: FollowHooks,
  signal: AbortSignal,
): Promise<Outcome> {
  const connection = new AbortController()
  const stop = () => connection.abort()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  let watchdog: ReturnType<typeof setTimeout> | undefined
  const seen = { last: '', reread: false }
  try {
    const response = await send(`/threads/${thread}/events?after=${at.cursor}`, {
      headers: { Accept: 'text/event-stream' },
      signal: connection.signal,
    })
    if (response.status === 204 || response.body === null) return { how: 'ended' }
    hooks.onLink({ state: 'live' })
    await readEvents(response.body, {
      onBytes: () => {
        clearTimeout(watchdog)
        watchdog = setTimeout(stop, SILENCE_MS)
      },
      onRetry: (ms) => (at.base = ms),
      onEvent: (event) => {
        if (seen.reread || isAborted(signal)) return
        at.failures = 0
        seen.last = event.name
        if (event.id !== null && compareIds(event.id, at.cursor) > 0) at.cursor = event.id
        if (hooks.onEvent(event) === 'go') return
        seen.reread = true
        stop()
      },
    })
    if (seen.reread) return { how: 'reread' }
    return hooks.isEnding(seen.last) ? { how: 'ended' } : { how: 'lost', problem: null }
  } catch (error) {
    return seen.reread ? { how: 'reread' } : { how: 'lost', problem: asProblem(error) }
  } finally {
    clearTimeout(watchdog)
    signal.removeEventListener('abort', stop)
  }
}

/** Whether the same request would only fail in the same way. */
export function isFinal(problem: ProblemError): boolean {
  return problem.status >= 400 && problem.status < 500 && ![408, 425, 429].includes(problem.status)
}
