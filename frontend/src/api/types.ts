/** Shapes of the HTTP interface, as the contract names them. Offsets are code points. */

export type Status =
  'pending' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted'

export type Depth = 'quick' | 'standard' | 'deep'

export interface Problem {
  type: string
  title: string
  status: number
  detail?: string | undefined
  /** Field errors of a 422, in any shape the server gives them. */
  errors?: { loc?: (string | number)[]; msg?: string }[] | undefined
}

export interface StartRequest {
  question: string
  language: string
  depth: Depth
  review_plan: boolean
  web: boolean
  documents: boolean
}

export interface Queue {
  position: number
  eta_seconds: number | null
}

export interface StartResponse {
  thread_id: string
  run_id: string
  status: Status
}

export interface ThreadSummary {
  thread_id: string
  title: string | null
  question: string
  status: Status
  created_at: string
}

export interface Step {
  id: string
  title: string
  intent: string
  queries: string[]
  status: string
}

export interface Source {
  n: number
  url: string
  title: string
  date?: string | null
  kind: 'web' | 'document'
}

export interface Search {
  provider: string
  query: string
  step: string
  hits?: number
  failed?: string | null
}

export interface Finding {
  step: string
  text: string
}

export interface Citation {
  number: number
  n: number
  start: number
  end: number
  quote: string
}

export interface Sentence {
  start: number
  end: number
  verdict: 'kept' | 'repaired' | 'removed'
  reason?: string | null
}

export interface Section {
  version: number
  index: number
  title: string
  markdown: string
  citations: Citation[]
  sentences: Sentence[]
}

export interface Version {
  version: number
  ts?: string
  run_id?: string
  requirement_id?: string | null
  sections_changed?: number[]
  partial?: boolean
}

export interface Requirement {
  id: string
  status: string
  message?: string | null
  version?: number | null
  sections?: number[] | null
  reason?: string | null
}

export interface Estimate {
  seconds: [number, number]
  tokens: [number, number]
  cost_usd: [number, number]
  runs_seen: number
}

export interface Interrupt {
  id: string
  kind: string
  payload: {
    steps?: Step[]
    estimate?: Partial<Estimate>
    question?: string
    options?: string[]
    deadline?: string
    handler?: string
  }
}

export interface Usage {
  input_tokens: number
  output_tokens: number
  cost_usd: number
  estimated: boolean
}

export interface RunSummary {
  run_id: string
  kind: string
  attempt: number
  problem?: Problem | null
}

export interface StateResponse {
  thread_id: string
  question: string
  title: string | null
  status: Status
  stopping: boolean
  run: RunSummary | null
  interrupts: Interrupt[]
  interrupted_by_restart: boolean
  cursor: string
  queue: Queue | null
  values: {
    plan?: Step[]
    sources?: Source[]
    searches?: Search[]
    findings?: Finding[]
    open_questions?: string[]
    page_failures?: { url: string; reason: string }[]
    sections?: Section[]
    versions?: Version[]
    requirements?: Requirement[]
    excluded?: number[]
    pinned?: number[]
  }
  usage: Usage | null
  created_at: string
  started_at: string | null
  ended_at: string | null
}

export type Answer =
  | { action: 'approve' }
  | { action: 'edit'; steps: EditedStep[] }
  | { action: 'revise'; feedback: string }
  | { text: string }

/** A step as the reader leaves it; a new one has no id yet. */
export interface EditedStep {
  id?: string
  title: string
  intent: string
  queries: string[]
}

export interface ModifyRequest {
  message?: string
  exclude_sources?: number[]
  include_sources?: number[]
  pin_sources?: number[]
  exclude_domains?: string[]
}

export interface ModifyResponse {
  requirement_id: string
  status: string
  run_id?: string | null
}

export interface Report {
  version: number
  title: string
  language: string
  partial: boolean
  sections: Section[]
  sources: { number: number; n: number; url: string; title: string; date?: string | null }[]
}

export interface SourceText {
  n: number
  url: string
  title: string
  kind: 'web' | 'document'
  text: string
  date?: string | null
}

/** One event of the stream. `id` is null for events made for one reader alone. */
export interface StreamEvent {
  id: string | null
  name: string
  data: Record<string, unknown>
}
