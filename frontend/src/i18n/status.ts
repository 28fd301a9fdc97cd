import type { Status } from '../api/types'
import type { TextKey } from './en'

/** Plain words for each status; `stopping` is running with a wish to stop. */
export const STATUS_TEXT: Record<Status | 'stopping', TextKey> = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  waiting: 'waiting',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
}
