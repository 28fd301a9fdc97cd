import { START } from '../api/cursor'
import type {
  Citation,
  Finding,
  Interrupt,
  Problem,
  Queue,
  Requirement,
  RunSummary,
  Search,
  Sentence,
  Source,
  Status,
  Step,
  Usage,
  Version,
} from '../api/types'

/** A section as the reader sees it: open while its tokens arrive, then final. */
export interface SectionView {
  version: number
  index: number
  title: string
  open: boolean
  /** Tokens so far, with `[S3]` marks, while open; the final Markdown, with `[1]`, after. */
  text: string
  citations: Citation[]
  sentences: Sentence[]
}

export interface Failure {
  /** What could not be read: an address or a title. */
  what: string
  reason: string
}

export interface Retry {
  what: string
  reason: string
  try: number
}

/** Work going on now: a node of the workflow, on a step where it has one. */
export interface Running {
  node: string
  step: string | null
}

/** All the page draws of a thread. Built by `fromState`, moved on by `apply`, never changed. */
export interface View {
  threadId: string
  question: string
  title: string
  status: Status
  stopping: boolean
  run: RunSummary | null
  queue: Queue | null
  interrupts: Interrupt[]
  interruptedByRestart: boolean
  problem: Problem | null
  /** Id of the last event seen; events at or before it change nothing. */
  cursor: string
  plan: Step[]
  running: Running[]
  searches: Search[]
  sources: Source[]
  failures: Failure[]
  retries: Retry[]
  findings: Finding[]
  openQuestions: string[]
  /** Version of the report that is written or was written last; 0 before the first. */
  version: number
  /** Sections of that version in order; those it has not touched yet are of an older one. */
  sections: SectionView[]
  /** How many sections that version will have; null where not known. */
  total: number | null
  partial: boolean
  versions: Version[]
  requirements: Requirement[]
  excluded: number[]
  pinned: number[]
  usage: Usage | null
  createdAt: string
  startedAt: string | null
  endedAt: string | null
}

export const EMPTY: View = {
  threadId: '',
  question: '',
  title: '',
  status: 'pending',
  stopping: false,
  run: null,
  queue: null,
  interrupts: [],
  interruptedByRestart: false,
  problem: null,
  cursor: START,
  plan: [],
  running: [],
  searches: [],
  sources: [],
  failures: [],
  retries: [],
  findings: [],
  openQuestions: [],
  version: 0,
  sections: [],
  total: null,
  partial: false,
  versions: [],
  requirements: [],
  excluded: [],
  pinned: [],
  usage: null,
  createdAt: '',
  startedAt: null,
  endedAt: null,
}

export const ENDING = new Set([
  'run.waiting',
  'run.succeeded',
  'run.failed',
  'run.cancelled',
  'run.interrupted',
])

export function isActive(status: Status): boolean {
  return status === 'pending' || status === 'running'
}
