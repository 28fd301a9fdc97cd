import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { compareIds } from '../src/api/cursor'
import type { StreamEvent } from '../src/api/types'
import type { Script } from './script'

export function frame(event: StreamEvent): string {
  const id = event.id === null ? '' : `id: ${event.id}\n`
  return `${id}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`
}

/**
 * A server on a real port that tells one script as a service would: its state at `now`, its
 * events after a cursor, 204 at the end. `next` may answer a stream request in another way.
 */
export class ScriptServer {
  readonly script: Script
  readonly requests: string[] = []
  /** How many events have been made so far. */
  now = 1
  /** Streams open at this moment. */
  open = 0
  next: ((request: IncomingMessage, response: ServerResponse) => boolean) | null = null
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #streams = new Map<ServerResponse, string>()

  constructor(script: Script) {
    this.script = script
  }

  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  get ended(): boolean {
    return this.now >= this.script.events.length
  }

  get streams(): string[] {
    return this.requests.filter((request) => request.includes('/events'))
  }

  /** Makes `count` more events and sends them to all who follow. */
  advance(count: number): void {
    this.now = Math.min(this.script.events.length, this.now + count)
    for (const response of this.#streams.keys()) this.#send(response)
  }

  /** Cuts all streams, in the middle of a frame. */
  cut(): void {
    for (const response of this.#streams.keys()) {
      response.write('id: 99-1\nevent: token\nda')
      response.destroy()
    }
  }

  #send(response: ServerResponse): void {
    let cursor = this.#streams.get(response) ?? '0-0'
    for (const event of this.script.events.slice(0, this.now)) {
      if (event.id === null || compareIds(event.id, cursor) <= 0) continue
      response.write(frame(event))
      cursor = event.id
    }
    this.#streams.set(response, cursor)
    if (this.ended) response.end()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://x')
    this.requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (this.next?.(request, response) === true) return
    if (url.pathname.endsWith('/state')) {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(this.script.states[this.now - 1]))
      return
    }
    const after = url.searchParams.get('after') ?? '0-0'
    const last = this.script.events.at(-1)?.id ?? ''
    if (this.ended && compareIds(after, last) >= 0) {
      response.writeHead(204).end()
      return
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(': hello\n\n')
    this.open += 1
    response.on('close', () => {
      this.open -= 1
      this.#streams.delete(response)
    })
    this.#streams.set(response, after)
    this.#send(response)
  }
}
