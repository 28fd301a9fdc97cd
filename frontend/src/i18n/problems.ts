import { problemKind } from '../api/problem'
import type { Problem } from '../api/types'
import type { Table, TextKey } from './en'

const KNOWN: Record<string, TextKey> = {
  offline: 'problemOffline',
  'run-active': 'problemRunActive',
  stopping: 'problemStopping',
  'not-waiting': 'problemNotWaiting',
  'already-answered': 'problemAlreadyAnswered',
  'unknown-interrupt': 'problemUnknownInterrupt',
  'answer-needed': 'problemAnswerNeeded',
  'nothing-left': 'problemNothingLeft',
  'nothing-to-write': 'problemNothingToWrite',
  'attempts-exhausted': 'problemAttemptsExhausted',
  'rate-limited': 'problemRateLimited',
  draining: 'problemDraining',
  'store-down': 'problemStoreDown',
  'too-large': 'problemTooLarge',
}

/** One line for the reader: in their language where we know the problem, else the server's. */
export function problemLine(text: Table, problem: Problem): string {
  const known = KNOWN[problemKind(problem)]
  if (known !== undefined) return text[known]
  const detail = problem.detail ?? problem.errors?.map((e) => e.msg).join('; ')
  return detail && detail !== problem.title ? `${problem.title}: ${detail}` : problem.title
}
