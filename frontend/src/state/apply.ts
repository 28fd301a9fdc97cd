import { compareIds } from '../api/cursor'
import type {
  Finding,
  Interrupt,
  Problem,
  Queue,
  Requirement,
  RunSummary,
  Search,
  Source,
  Status,
  Step,
  StreamEvent,
  Usage,
} from '../api/types'
import { applyToReport } from './apply-report'
import { include, upsert } from './upsert'
import type { Running, View } from './view'

/**
 * The view after an event: pure, the same live, in a replay and in tests. An event seen before
 * (id at or before the cursor) changes nothing. An unknown one only moves the cursor.
 */
export function apply(view: View, event: StreamEvent): View {
  if (event.id !== null && compareIds(event.id, view.cursor) <= 0) return view
  const next = applyToReport(applyToRun(view, event), event)
  return event.id === null ? next : { ...next, cursor: event.id }
}

function applyToRun(view: View, { name, data }: StreamEvent): View {
  switch (name) {
    case 'run.queued':
      return queued(view, data as unknown as Queue & { run_id: string })
    case 'run.started':
      return started(view, data as unknown as RunSummary & { ts: string })
    case 'run.stopping':
      return data['mode'] === 'finish' ? view : { ...view, stopping: true }
    case 'run.waiting':
      return {
        ...ended(view, 'waiting', data),
        interrupts: (data['interrupts'] as Interrupt[] | undefined) ?? view.interrupts,
      }
    case 'run.succeeded':
    case 'run.cancelled':
      return ended(view, name === 'run.succeeded' ? 'succeeded' : 'cancelled', data)
    case 'run.interrupted':
      return { ...ended(view, 'interrupted', data), interruptedByRestart: true }
    case 'run.failed':
      return {
        ...ended(view, 'failed', data),
        problem: (data['problem'] as Problem | undefined) ?? null,
      }
    case 'interrupt': {
      const { id, kind, payload } = data as unknown as Interrupt
      const interrupt = { id, kind, payload }
      return {
        ...view,
        interrupts: upsert(view.interrupts, interrupt, (i) => i.id === interrupt.id),
      }
    }
    case 'usage':
      return { ...view, usage: usage(data as unknown as Usage) }
    case 'requirement':
      return {
        ...view,
        requirements: withRequirement(view.requirements, data),
      }
    default:
      return applyToResearch(view, name, data)
  }
}

function applyToResearch(view: View, name: string, data: Record<string, unknown>): View {
  switch (name) {
    case 'node.started': {
      const work = {
        node: String(data['node']),
        step: (data['step'] as string | undefined) ?? null,
      }
      return { ...view, running: include(view.running, work, (r) => sameWork(r, work)) }
    }
    case 'node.finished': {
      const work = {
        node: String(data['node']),
        step: (data['step'] as string | undefined) ?? null,
      }
      return { ...view, running: view.running.filter((r) => !sameWork(r, work)) }
    }
    case 'plan':
      return { ...view, plan: data['steps'] as Step[] }
    case 'search':
    case 'search.failed':
      return { ...view, searches: withSearch(view.searches, name, data) }
    case 'source': {
      const { n, url, title, date = null, kind } = data as unknown as Source
      const source = { n, url, title, date, kind }
      return { ...view, sources: upsert(view.sources, source, (s) => s.n === source.n) }
    }
    case 'source.failed': {
      const failure = {
        what: (data['url'] as string | undefined) ?? '',
        reason: (data['reason'] as string | undefined) ?? '',
      }
      return { ...view, failures: include(view.failures, failure, (f) => f.what === failure.what) }
    }
    case 'finding': {
      const { step, text } = data as unknown as Finding
      return {
        ...view,
        findings: include(view.findings, { step, text }, (f) => f.step === step && f.text === text),
      }
    }
    case 'retry':
      return {
        ...view,
        retries: [
          ...view.retries,
          {
            what: (data['what'] as string | undefined) ?? '',
            reason: (data['reason'] as string | undefined) ?? '',
            try: Number(data['try'] ?? 0),
          },
        ],
      }
    default:
      return view
  }
}

function usage({ input_tokens, output_tokens, cost_usd, estimated }: Usage): Usage {
  return { input_tokens, output_tokens, cost_usd, estimated }
}

function queued(view: View, data: Queue & { run_id: string }): View {
  const queue = { position: data.position, eta_seconds: data.eta_seconds }
  if (view.run?.run_id === data.run_id && view.status === 'running') return view
  return { ...view, status: 'pending', stopping: false, queue, problem: null, endedAt: null }
}

function started(view: View, data: RunSummary & { ts: string }): View {
  return {
    ...view,
    status: 'running',
    stopping: false,
    run: { run_id: data.run_id, kind: data.kind, attempt: data.attempt },
    queue: null,
    interrupts: [],
    interruptedByRestart: false,
    problem: null,
    running: [],
    startedAt: view.run?.run_id === data.run_id ? (view.startedAt ?? data.ts) : data.ts,
    endedAt: null,
  }
}

function ended(view: View, status: Status, data: Record<string, unknown>): View {
  return {
    ...view,
    status,
    stopping: false,
    queue: null,
    running: [],
    endedAt: (data['ts'] as string | undefined) ?? view.endedAt,
  }
}

function sameWork(a: Running, b: Running): boolean {
  return a.node === b.node && a.step === b.step
}

function withSearch(list: Search[], name: string, data: Record<string, unknown>): Search[] {
  const search: Search = {
    provider: String(data['provider']),
    query: String(data['query']),
    step: (data['step'] as string | undefined) ?? '',
    hits: Number(data['hits'] ?? 0),
    failed: name === 'search.failed' ? ((data['reason'] as string | undefined) ?? '') : null,
  }
  return upsert(
    list,
    search,
    (s) => s.provider === search.provider && s.query === search.query && s.step === search.step,
  )
}

/** A requirement goes forward only: an answer to the POST may come after `applied`. */
function withRequirement(list: Requirement[], data: Record<string, unknown>): Requirement[] {
  const { ts, ...rest } = data
  const item = rest as unknown as Requirement
  const old = list.find((r) => r.id === item.id)
  if (old === undefined) return [...list, item]
  const settled = old.status === 'applied' || old.status === 'rejected'
  const goesBack = settled && item.status !== 'applied' && item.status !== 'rejected'
  const merged = goesBack ? { ...item, ...old } : { ...old, ...item }
  return upsert(list, merged, (r) => r.id === item.id)
}
