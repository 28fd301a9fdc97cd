/** The calls of the page, one function each. */

import { send, sendJson } from './http'
import type {
  Answer,
  ModifyRequest,
  ModifyResponse,
  Report,
  SourceText,
  StartRequest,
  StartResponse,
  StateResponse,
  ThreadSummary,
} from './types'

/** The same `key` with the same request gives the same run, however often it is sent. */
export function startThread(request: StartRequest, key: string): Promise<StartResponse> {
  return sendJson('/threads', {
    method: 'POST',
    body: request,
    headers: { 'Idempotency-Key': key },
  })
}

export function listThreads(
  query: string,
  after: string | null,
  signal?: AbortSignal,
): Promise<{ threads: ThreadSummary[]; next: string | null }> {
  const params = new URLSearchParams({ limit: '30' })
  if (query) params.set('q', query)
  if (after) params.set('after', after)
  return sendJson(`/threads?${params.toString()}`, { signal })
}

export function readState(thread: string, signal?: AbortSignal): Promise<StateResponse> {
  return sendJson(`/threads/${thread}/state`, { signal })
}

export async function deleteThread(thread: string): Promise<void> {
  await send(`/threads/${thread}`, { method: 'DELETE' })
}

export async function cancelThread(thread: string, mode: 'stop' | 'finish'): Promise<void> {
  await send(`/threads/${thread}/cancel`, { method: 'POST', body: { mode } })
}

export async function resumeThread(thread: string, key: string): Promise<void> {
  await send(`/threads/${thread}/resume`, {
    method: 'POST',
    body: {},
    headers: { 'Idempotency-Key': key },
  })
}

export async function answerInterrupt(
  thread: string,
  interrupt: string,
  value: Answer,
  key: string,
): Promise<void> {
  await send(`/threads/${thread}/answer`, {
    method: 'POST',
    body: { interrupt_id: interrupt, value },
    headers: { 'Idempotency-Key': key },
  })
}

export function modifyThread(
  thread: string,
  request: ModifyRequest,
  key: string,
): Promise<ModifyResponse> {
  return sendJson(`/threads/${thread}/modify`, {
    method: 'POST',
    body: request,
    headers: { 'Idempotency-Key': key },
  })
}

export function readReport(thread: string, version: number, signal?: AbortSignal): Promise<Report> {
  return sendJson(reportPath(thread, 'json', version), { signal })
}

export function reportPath(thread: string, format: string, version: number): string {
  return `/threads/${thread}/report?format=${format}&version=${version}`
}

export function readSource(thread: string, n: number, signal?: AbortSignal): Promise<SourceText> {
  return sendJson(`/threads/${thread}/sources/${n}`, { signal })
}
