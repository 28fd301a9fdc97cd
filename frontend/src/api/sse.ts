import { createParser } from 'eventsource-parser'

import type { StreamEvent } from './types'

export interface SseHandlers {
  onEvent: (event: StreamEvent) => void
  /** Base of the wait before a reconnect, in milliseconds, as the server asked for it. */
  onRetry?: (ms: number) => void
  /** Called for every piece that arrives, comments too: the sender is alive. */
  onBytes?: () => void
}

/**
 * Reads an event stream to its end. Bytes may be cut anywhere, in the middle of a character too.
 * An event whose data is not a JSON object is dropped: nothing the server sends looks like that.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  handlers: SseHandlers,
): Promise<void> {
  const parser = createParser({
    onEvent: (message) => {
      const data = parseObject(message.data)
      if (data === null) return
      handlers.onEvent({ id: message.id ?? null, name: message.event ?? 'message', data })
    },
    onRetry: (ms) => handlers.onRetry?.(ms),
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let last = ''
  handlers.onBytes?.()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    handlers.onBytes?.()
    const text = decoder.decode(value, { stream: true })
    parser.feed(text)
    last = text.at(-1) ?? last
  }
  // The parser waits to see whether a CR is half of a CRLF; at the end nothing can follow.
  if (last === '\r') parser.feed('\n')
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
