import type {
  Citation,
  Requirement,
  Search,
  Section,
  Source,
  StateResponse,
  Step,
  StreamEvent,
} from '../src/api/types'

/** Small seeded generator (mulberry32): the same seed, the same run. */
export function randomFrom(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = a
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

type Values = Required<StateResponse['values']>

const WORDS = [
  'lease',
  'cancel',
  '取消',
  '租约。',
  '**bold**',
  '[S1]',
  '\n\n',
  '😀',
  ' ',
  '- item\n',
]

/**
 * A thread as a server would keep it: its events in order, and the state as it stood after each.
 * With a section open the state's cursor lies just before its start, as the contract says.
 */
export class Script {
  readonly events: StreamEvent[] = []
  readonly states: StateResponse[] = []
  readonly random: () => number
  #epoch = 0
  #seq = 0
  #openFrom: string | null = null
  #state: StateResponse = blankState()

  constructor(seed: number) {
    this.random = randomFrom(seed)
  }

  get values(): Values {
    return this.#state.values as Values
  }

  int(below: number): number {
    return Math.floor(this.random() * below)
  }

  emit(name: string, data: Record<string, unknown>, change?: () => void): void {
    this.#seq += 1
    const id = `${this.#epoch}-${this.#seq}`
    this.events.push({ id, name, data: { ts: '2026-01-01T00:00:00Z', ...data } })
    change?.()
    this.#state.cursor = this.#openFrom ?? id
    this.states.push(structuredClone(this.#state))
  }

  start(kind: string, attempt: number): void {
    this.#epoch += 1
    this.#seq = 0
    this.#openFrom = null
    const run = { run_id: `run-${this.#epoch}`, kind, attempt }
    this.emit('run.started', run, () => {
      Object.assign(this.#state, { run, status: 'running', interrupts: [] })
    })
  }

  end(status: 'waiting' | 'succeeded' | 'cancelled' | 'failed'): void {
    const data =
      status === 'waiting' ? { interrupts: [{ id: 'i', kind: 'review_plan', payload: {} }] } : {}
    this.#openFrom = null
    this.emit(`run.${status}`, data, () => {
      Object.assign(this.#state, { status, interrupts: data.interrupts ?? [] })
    })
  }

  plan(steps: Step[]): void {
    this.emit('plan', { steps }, () => (this.values.plan = steps))
  }

  search(search: Search): void {
    const { failed, ...rest } = search
    if (typeof failed === 'string') {
      this.emit('search.failed', { ...rest, reason: failed }, () =>
        this.values.searches.push(search),
      )
    } else this.emit('search', { ...rest }, () => this.values.searches.push(search))
  }

  source(source: Source): void {
    this.emit('source', { ...source }, () => this.values.sources.push(source))
  }

  requirement(requirement: Requirement): void {
    this.emit('requirement', { ...requirement }, () => {
      const list = this.values.requirements.filter((r) => r.id !== requirement.id)
      this.values.requirements = [...list, requirement]
    })
  }

  /** Writes a section token by token; with `tokens` it breaks off after so many. */
  section(version: number, index: number, total: number, breakAfter = Infinity): void {
    this.#openFrom = `${this.#epoch}-${this.#seq}`
    this.emit('section.started', { version, index, title: `Section ${index}`, total })
    let raw = ''
    const count = 5 + this.int(20)
    for (let i = 0; i < Math.min(count, breakAfter); i += 1) {
      const text = WORDS[this.int(WORDS.length)] ?? ''
      raw += text
      this.emit('token', { section: index, text })
      if (this.random() < 0.05)
        this.emit('usage', { input_tokens: i, output_tokens: i, cost_usd: 0 })
    }
    if (count > breakAfter) return
    const citations: Citation[] = [{ number: 1, n: 1, start: 0, end: 4, quote: 'text' }]
    const final: Section = {
      version,
      index,
      title: `Section ${index}`,
      markdown: raw.replaceAll('[S1]', '[1]'),
      citations,
      sentences: [],
    }
    this.#openFrom = null
    this.emit('section', { ...final }, () => {
      this.values.sections = [...this.values.sections.filter((s) => s.index !== index), final]
    })
  }

  report(version: number): void {
    this.emit('report', { version, title: 'Title', partial: false }, () => {
      this.values.versions.push({ version })
      this.#state.title = 'Title'
    })
  }
}

function blankState(): StateResponse {
  return {
    thread_id: 't',
    question: 'q',
    title: null,
    status: 'pending',
    stopping: false,
    run: null,
    interrupts: [],
    interrupted_by_restart: false,
    cursor: '0-0',
    queue: null,
    values: {
      plan: [],
      sources: [],
      searches: [],
      findings: [],
      open_questions: [],
      sections: [],
      versions: [],
      requirements: [],
      excluded: [],
      pinned: [],
    },
    usage: null,
    created_at: '',
    started_at: null,
    ended_at: null,
  }
}

/** A whole life: plan, review, research, a stop in mid-section, a resume, a modify. */
export function life(seed: number): Script {
  const s = new Script(seed)
  const step = { id: 'a', title: 'A', intent: '', queries: ['q'], status: 'planned' }
  s.start('start', 1)
  s.plan([step])
  s.end('waiting')
  s.start('answer', 1)
  for (let n = 1; n <= 3; n += 1) {
    s.search({ provider: 'p', query: `q${n}`, step: 'a', hits: n, failed: n === 2 ? 'gone' : null })
    s.source({ n, url: `https://example.org/${n}`, title: `S${n}`, date: null, kind: 'web' })
  }
  s.plan([{ ...step, status: 'analysed' }])
  const total = 2 + s.int(3)
  const stopAt = s.int(total)
  for (let index = 0; index < stopAt; index += 1) s.section(1, index, total)
  s.section(1, stopAt, total, 3)
  s.end(s.random() < 0.5 ? 'cancelled' : 'failed')
  s.start('continue', 1)
  s.section(1, stopAt, total, 2)
  s.start('continue', 2) // the worker died; another took over
  for (let index = stopAt; index < total; index += 1) s.section(1, index, total)
  s.report(1)
  s.end('succeeded')
  s.start('modify', 1)
  s.requirement({ id: 'r', status: 'queued', message: 'more' })
  s.section(2, total - 1, total)
  s.requirement({ id: 'r', status: 'applied', message: 'more' })
  s.report(2)
  s.end('succeeded')
  return s
}
