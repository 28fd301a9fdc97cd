/**
 * How long to wait before the next try, in milliseconds: exponential with full jitter over the
 * upper half, so that many readers of a restarted server do not come back at the same moment.
 */
export function backoff(attempt: number, base = 500, cap = 15_000, random = Math.random): number {
  const ceiling = Math.min(cap, base * 2 ** Math.min(attempt, 16))
  return ceiling / 2 + (random() * ceiling) / 2
}

/** Resolves after `ms`, at once when `signal` aborts or, with `wake`, when that fires. */
export function pause(ms: number, signal: AbortSignal, wake?: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      wake?.removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    wake?.addEventListener('online', done)
  })
}

/** Asked afresh at each call: what was true before an `await` need not be after it. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}
