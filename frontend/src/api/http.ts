import { currentKey, keyRefused } from './auth'
import { offlineProblem, toProblem } from './problem'

export interface Call {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** One request under `/api`. Raises ProblemError for every answer that is not a success. */
export async function send(path: string, call: Call = {}): Promise<Response> {
  const key = currentKey()
  const headers = new Headers(call.headers)
  if (key !== null) headers.set('Authorization', `Bearer ${key}`)
  const init: RequestInit = { method: call.method ?? 'GET', headers, cache: 'no-store' }
  if (call.signal) init.signal = call.signal
  if (call.body !== undefined) {
    headers.set('Content-Type', 'application/json')
    init.body = JSON.stringify(call.body)
  }
  let response: Response
  try {
    response = await fetch(`/api${path}`, init)
  } catch (error) {
    if (call.signal?.aborted) throw error
    throw offlineProblem()
  }
  if (response.status === 401) keyRefused(key)
  if (!response.ok) throw await toProblem(response)
  return response
}

export async function sendJson<T>(path: string, call: Call = {}): Promise<T> {
  const response = await send(path, {
    ...call,
    headers: { Accept: 'application/json', ...call.headers },
  })
  try {
    return (await response.json()) as T
  } catch (error) {
    if (call.signal?.aborted) throw error
    throw offlineProblem()
  }
}
