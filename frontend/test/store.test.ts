import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { apply } from '../src/state/apply'
import { ThreadStore } from '../src/state/store'
import { EMPTY } from '../src/state/view'
import { install, page, setHidden } from './browser-bits'
import { life, Script } from './script'
import { frame, ScriptServer } from './server'

const realFetch = globalThis.fetch
let server: ScriptServer
let close: () => void = () => undefined

async function openStore(script: Script, now = 1): Promise<ThreadStore> {
  server = new ScriptServer(script)
  server.now = now
  globalThis.fetch = realFetch
  install(await server.start())
  const store = new ThreadStore('t')
  close = store.open()
  return store
}

/** Text as the page has it, section by section. */
function text(store: ThreadStore): string[] | undefined {
  return store.snapshot().view?.sections.map((section) => section.text)
}

async function until(met: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(met()).toBe(true), { timeout: 8000, interval: 5 })
}

beforeEach(() => {
  page.hidden = false
})

afterEach(async () => {
  close()
  await server.stop()
})

/** One run that writes two sections and ends. */
function shortLife(end: 'succeeded' | 'cancelled' | 'waiting' = 'succeeded'): Script {
  const script = new Script(9)
  script.start('start', 1)
  script.section(1, 0, 2)
  script.section(1, 1, 2)
  if (end === 'succeeded') script.report(1)
  script.end(end)
  return script
}

describe('ThreadStore', () => {
  test('follows to the end over cut connections and has the text of an unbroken reader', async () => {
    const script = life(21)
    const store = await openStore(script)
    await until(() => server.open === 1)
    let cuts = 0
    while (!server.ended) {
      server.advance(1 + script.int(9))
      if (script.random() < 0.5 && cuts < 6) {
        const cursor = script.events[server.now - 1]?.id
        await until(() => store.snapshot().view?.cursor === cursor)
        server.cut()
        cuts += 1
      }
      await until(() => server.open === 1 || server.ended)
    }
    await until(() => store.snapshot().view?.cursor === script.events.at(-1)?.id)
    expect(cuts).toBeGreaterThan(2)
    expect(text(store)).toEqual(script.events.reduce(apply, EMPTY).sections.map((s) => s.text))
  }, 30_000)

  test('f15: hiding and showing the page, or losing the stream, sends nothing but GETs', async () => {
    await openStore(shortLife(), 3)
    await until(() => server.open === 1)
    server.cut()
    await until(() => server.open === 1 && server.streams.length === 2)
    setHidden(true)
    setHidden(false)
    server.advance(999)
    await until(() => server.open === 0)
    expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual([])
  })

  test.each(['succeeded', 'cancelled', 'waiting'] as const)(
    'f69: a thread that is %s holds no connection',
    async (end) => {
      const script = shortLife(end)
      const store = await openStore(script, script.events.length)
      await until(() => store.snapshot().view?.status === end && server.streams.length > 0)
      await until(() => server.open === 0)
      const count = server.streams.length
      await new Promise((done) => setTimeout(done, 300))
      expect([server.open, server.streams.length]).toEqual([0, count])
    },
  )

  test('f69: a hidden page gives its connection back and takes up again when shown', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const store = await openStore(shortLife(), 3)
      await vi.waitFor(() => expect(server.open).toBe(1))
      setHidden(true)
      await vi.advanceTimersByTimeAsync(21_000)
      await vi.waitFor(() => expect(server.open).toBe(0))
      server.advance(999)
      vi.useRealTimers()
      setHidden(false)
      await until(() => store.snapshot().view?.status === 'succeeded')
      expect(text(store)).toEqual(
        server.script.states.at(-1)?.values.sections?.map((s) => s.markdown),
      )
    } finally {
      vi.useRealTimers()
    }
  })

  test('a gap reads the state again, once; the same gap again just goes on', async () => {
    const script = shortLife()
    const gap = { id: null, name: 'gap', data: { after: '1-2', reason: 'gone' } }
    const store = await openStore(script, 3)
    server.next = (request, response) => {
      if (request.url?.includes('/events') !== true || server.streams.length > 2) return false
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end(frame(gap))
      return true
    }
    await until(() => server.open === 1)
    server.advance(999)
    await until(() => store.snapshot().view?.status === 'succeeded')
    const states = server.requests.filter((request) => request.includes('/state'))
    expect(states.length).toBeLessThanOrEqual(3) // first, after the gap, at the end
    expect(text(store)).toEqual(script.states.at(-1)?.values.sections?.map((s) => s.markdown))
  })

  test('503 with Retry-After is waited out, and the link says so meanwhile', async () => {
    let refused = 0
    const started = Date.now()
    const script = shortLife()
    const store = await openStore(script, 3)
    server.next = (request, response) => {
      if (request.url?.includes('/events') !== true || refused > 0) return false
      refused += 1
      response.writeHead(503, { 'Content-Type': 'application/problem+json', 'Retry-After': '1' })
      response.end(
        JSON.stringify({ type: '/problems/draining', title: 'Shutting down', status: 503 }),
      )
      return true
    }
    await until(() => store.snapshot().link.state === 'lost')
    await until(() => server.open === 1)
    expect(Date.now() - started).toBeGreaterThan(1000)
    await until(() => store.snapshot().link.state === 'live')
  })

  test.each([401, 403, 404])('%i ends it: another try would only fail again', async (status) => {
    const store = await openStore(shortLife(), 3)
    server.next = (_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/problem+json' })
      response.end(JSON.stringify({ type: '/problems/x', title: 'No', status }))
      return true
    }
    store.reload()
    await until(() => store.snapshot().fatal?.status === status)
  })

  test('the key goes with every call', async () => {
    const seen: (string | undefined)[] = []
    const script = shortLife()
    const store = await openStore(script, 3)
    sessionStorage.setItem('research.key', 'secret')
    server.next = (request) => {
      seen.push(request.headers.authorization)
      return false
    }
    store.reload()
    await until(() => seen.length >= 2)
    expect(new Set(seen)).toEqual(new Set(['Bearer secret']))
  })
})
