import { describe, expect, test } from 'vitest'

import { readEvents } from '../src/api/sse'
import type { StreamEvent } from '../src/api/types'
import { randomFrom } from './script'

function streamOf(pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(control) {
      for (const piece of pieces) control.enqueue(piece)
      control.close()
    },
  })
}

async function read(bytes: Uint8Array, cutAt: number[] = []): Promise<StreamEvent[]> {
  const edges = [0, ...cutAt, bytes.length]
  const pieces = edges.slice(1).map((edge, i) => bytes.slice(edges[i], edge))
  const events: StreamEvent[] = []
  await readEvents(streamOf(pieces), { onEvent: (event) => events.push(event) })
  return events
}

const encode = (text: string) => new TextEncoder().encode(text)

const TOKENS = [
  ...[
    '\r',
    '\n\n',
    '\r\n',
    'x\revent: end\rdata: {}',
    ':comment',
    'data: x',
    '  leading',
    '\ufeff',
  ],
  ...['', 'a\u2028b\u2029c\u0085d\u000be\u000cf\u001c', '😀 取消', '"quoted" \\ back'],
]

function frames(newline: string): string {
  return TOKENS.map((text, i) =>
    [
      `id: 1-${i + 1}`,
      'event: token',
      `data: ${JSON.stringify({ section: 0, text })}`,
      '',
      '',
    ].join(newline),
  ).join('')
}

describe('readEvents', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('f36, f61: one event per token, text the same, lines ended by %s', async (_name, newline) => {
    const bytes = encode(`: hello${newline}${newline}${frames(newline)}`)
    const events = await read(bytes)
    expect(events.map((e) => e.data['text'])).toEqual(TOKENS)
    expect(events.map((e) => e.id)).toEqual(TOKENS.map((_, i) => `1-${i + 1}`))
    expect(new Set(events.map((e) => e.name))).toEqual(new Set(['token']))
  })

  test('cuts anywhere, in the middle of a character too, change nothing', async () => {
    const bytes = encode(frames('\n'))
    const whole = await read(bytes)
    for (let cut = 1; cut < bytes.length; cut += 1) expect(await read(bytes, [cut])).toEqual(whole)
    const random = randomFrom(11)
    for (let round = 0; round < 50; round += 1) {
      const cuts = Array.from({ length: 12 }, () => Math.floor(random() * bytes.length))
      expect(
        await read(
          bytes,
          cuts.sort((a, b) => a - b),
        ),
      ).toEqual(whole)
    }
  })

  test('comments are no events, an event without an id has none, retry is told', async () => {
    const retries: number[] = []
    const events: StreamEvent[] = []
    const text =
      ': ping\n\nretry: 1234\n\nid: 3-1\nevent: a\ndata: {}\n\nevent: run.queued\ndata: {"position":2}\n\n'
    await readEvents(streamOf([encode(text)]), {
      onEvent: (event) => events.push(event),
      onRetry: (ms) => retries.push(ms),
    })
    expect(events).toEqual([
      { id: '3-1', name: 'a', data: {} },
      { id: null, name: 'run.queued', data: { position: 2 } },
    ])
    expect(retries).toEqual([1234])
  })

  test('data that is no JSON object is dropped, the rest goes on', async () => {
    const events = await read(
      encode('event: a\ndata: {"x"\n\nevent: b\ndata: 7\n\nevent: c\ndata: {}\n\n'),
    )
    expect(events.map((e) => e.name)).toEqual(['c'])
  })
})
