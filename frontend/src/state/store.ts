import { backoff, isAborted, pause } from '../api/backoff'
import { follow, isFinal, type Link } from '../api/follow'
import { asProblem, type ProblemError } from '../api/problem'
import { readState } from '../api/threads'
import type { StateResponse, StreamEvent } from '../api/types'
import { apply } from './apply'
import { fromState } from './from-state'
import { RereadRule } from './reread'
import { ENDING, isActive, type View } from './view'

export interface Snapshot {
  view: View | null
  link: Link
  /** Set where the thread cannot be shown at all: not found, not allowed. */
  fatal: ProblemError | null
}

/** A hidden tab gives its connection back after this time, and asks now and then instead. */
const PARK_AFTER_MS = 20_000
const POLL_MS = 20_000

/**
 * One thread on the page: reads its state, follows its events, heals both. What it publishes
 * changes at most once a frame. All truth is the server's; this can be thrown away at any time.
 */
export class ThreadStore {
  readonly threadId: string
  #snapshot: Snapshot = { view: null, link: { state: 'live' }, fatal: null }
  #draft: Snapshot = this.#snapshot
  #frame: (() => void) | null = null
  #work: AbortController | null = null
  #parkTimer: ReturnType<typeof setTimeout> | undefined
  #parked = false
  #idle = false
  readonly #listeners = new Set<() => void>()

  constructor(threadId: string) {
    this.threadId = threadId
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  snapshot = (): Snapshot => this.#snapshot

  /** Starts reading and following; the returned function ends both. */
  open(): () => void {
    document.addEventListener('visibilitychange', this.#onVisibility)
    this.reload()
    return () => {
      document.removeEventListener('visibilitychange', this.#onVisibility)
      clearTimeout(this.#parkTimer)
      this.#work?.abort()
      this.#frame?.()
    }
  }

  /** Reads the state again and follows from there: after an answer, a resume, a modify. */
  reload = (): void => {
    this.#parked = false
    this.#begin((signal) => this.#readAndFollow(signal))
  }

  /** Takes what a call of this page has told, before the stream says the same. */
  told(event: Omit<StreamEvent, 'id'>): void {
    const { view } = this.#draft
    if (view !== null) this.#publish({ view: apply(view, { ...event, id: null }) })
  }

  #begin(work: (signal: AbortSignal) => Promise<void>): void {
    this.#work?.abort()
    const control = new AbortController()
    this.#work = control
    work(control.signal).catch((error: unknown) => {
      if (!control.signal.aborted) this.#publish({ fatal: asProblem(error) })
    })
  }

  async #readAndFollow(signal: AbortSignal): Promise<void> {
    const rule = new RereadRule()
    this.#idle = false
    for (;;) {
      const state = await this.#read(signal)
      if (state === null) return
      rule.adopted(state.run, state.cursor)
      const hooks = {
        isEnding: (name: string) => ENDING.has(name),
        onLink: (link: Link) => this.#publish({ link }),
        onEvent: (event: StreamEvent) => {
          if (signal.aborted) return 'go'
          if (rule.asks(event)) return 'reread'
          if (event.id !== null) rule.passed(event.id)
          const { view } = this.#draft
          if (view !== null) this.#publish({ view: apply(view, event) })
          return 'go'
        },
      } as const
      const how = await follow(this.threadId, state.cursor, hooks, signal)
      if (how === 'aborted') return
      if (how === 'reread') continue
      // A finished report is read once more: titles and versions as they are kept.
      const last = this.#draft.view?.status === 'succeeded' ? await this.#read(signal) : null
      if (last === null || !isActive(last.status)) break
    }
    this.#publish({ link: { state: 'live' } })
    this.#idle = true
  }

  /** The state, however long it takes to get it; null when aborted. */
  async #read(signal: AbortSignal): Promise<StateResponse | null> {
    for (let failures = 0; !isAborted(signal); failures += 1) {
      try {
        const state = await readState(this.threadId, signal)
        if (isAborted(signal)) return null
        const previous = this.#draft.view ?? undefined
        this.#publish({ view: fromState(state, previous), fatal: null, link: { state: 'live' } })
        return state
      } catch (error) {
        if (isAborted(signal)) return null
        const problem = asProblem(error)
        if (isFinal(problem)) throw problem
        this.#publish({ link: { state: 'lost', problem } })
        await pause(backoff(failures) + (problem.retryAfter ?? 0) * 1000, signal, globalThis)
      }
    }
    return null
  }

  #onVisibility = (): void => {
    clearTimeout(this.#parkTimer)
    if (document.hidden) {
      this.#parkTimer = setTimeout(() => this.#park(), PARK_AFTER_MS)
      if (this.#frame !== null) {
        this.#frame() // no frame comes in a hidden tab: publish by timer instead
        this.#frame = null
        this.#publish({})
      }
      return
    }
    // Whatever happened meanwhile, also in another tab, is in the state.
    if (this.#parked || this.#idle) this.reload()
  }

  /** Browsers allow few connections to one host: a tab nobody looks at holds none. */
  #park(): void {
    if (this.#parked) return
    this.#parked = true
    this.#begin(async (signal) => {
      for (;;) {
        const status = this.#draft.view?.status
        if (status !== undefined && !isActive(status)) return
        await pause(POLL_MS, signal)
        if ((await this.#read(signal)) === null) return
      }
    })
  }

  #publish(change: Partial<Snapshot>): void {
    this.#draft = { ...this.#draft, ...change }
    this.#frame ??= onNextFrame(() => {
      this.#frame = null
      this.#snapshot = this.#draft
      for (const listener of this.#listeners) listener()
    })
  }
}

/** A hidden tab draws no frames; its title still has to change. Returns how to call it off. */
function onNextFrame(callback: () => void): () => void {
  if (document.hidden) {
    const timer = setTimeout(callback, 100)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(callback)
  return () => cancelAnimationFrame(frame)
}
