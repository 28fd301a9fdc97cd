import { describe, expect, test } from 'vitest'

import { compareIds } from '../src/api/cursor'
import type { StreamEvent } from '../src/api/types'
import { apply } from '../src/state/apply'
import { fromState } from '../src/state/from-state'
import { RereadRule } from '../src/state/reread'
import { EMPTY, type View } from '../src/state/view'
import { life, type Script } from './script'

/** What a reader sees; not what only a reader who was there could know. */
function seen(view: View) {
  return {
    status: view.status,
    stopping: view.stopping,
    title: view.title,
    plan: view.plan,
    interrupts: view.interrupts,
    searches: view.searches,
    sources: view.sources,
    sections: view.sections,
    versions: view.versions.map((v) => v.version),
    requirements: view.requirements,
    cursor: view.cursor,
  }
}

function whole(script: Script): View {
  return script.events.reduce(apply, EMPTY)
}

function at<T>(list: T[], index: number): T {
  const item = list[index]
  if (item === undefined) throw new Error(`nothing at ${index}`)
  return item
}

/** Reads a script with drops, repeats, gaps and reloads, as `ThreadStore` does. */
function brokenReader(script: Script): { view: View; gaps: number; reloads: number } {
  let view = EMPTY
  let now = 0 // how many events the server has made so far
  let [gaps, reloads] = [0, 0]
  const rule = new RereadRule()
  const reload = (): void => {
    const state = at(script.states, Math.max(0, now - 1))
    view = fromState(state, view)
    rule.adopted(state.run, state.cursor)
    reloads += 1
  }
  const take = (event: StreamEvent): 'go' | 'reread' => {
    if (rule.asks(event)) return 'reread'
    if (event.id !== null) rule.passed(event.id)
    view = apply(view, event)
    return 'go'
  }
  now = 1 + script.int(script.events.length)
  reload()
  for (let turns = 0; turns < 5000; turns += 1) {
    now = Math.min(script.events.length, now + script.int(12))
    const missed = script.events.filter(
      (e, i) => i < now && compareIds(e.id ?? '', view.cursor) > 0,
    )
    const luck = script.random()
    if (luck < 0.08) {
      reload() // the page was reloaded
      continue
    }
    let stream = missed.slice(0, 1 + script.int(15)) // the connection drops somewhere
    if (luck < 0.2 && missed.length > 3) {
      gaps += 1
      const gap = { id: null, name: 'gap', data: { after: view.cursor, reason: 'gone' } }
      stream = [gap, ...missed.slice(2)]
    } else if (luck < 0.5) {
      const old = script.events.filter((e) => compareIds(e.id ?? '', view.cursor) <= 0).slice(-6)
      stream = [...old, ...stream, ...stream] // repeats
    }
    for (const event of stream) {
      if (take(event) === 'reread') {
        reload()
        break
      }
    }
    if (now === script.events.length && view.cursor === script.events.at(-1)?.id) break
  }
  return { view, gaps, reloads }
}

describe('apply', () => {
  test('a reader who drops, repeats, misses and reloads sees what one who stayed sees', () => {
    let [gaps, reloads] = [0, 0]
    for (let seed = 1; seed <= 150; seed += 1) {
      const script = life(seed)
      const reader = brokenReader(script)
      gaps += reader.gaps
      reloads += reader.reloads
      expect(seen(reader.view), `seed ${seed}`).toEqual(seen(whole(script)))
    }
    expect(gaps).toBeGreaterThan(50)
    expect(reloads).toBeGreaterThan(300)
  })

  test('the state at any moment, with the events after its cursor, equals all events', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const script = life(seed)
      let view = EMPTY
      script.events.forEach((event, index) => {
        view = apply(view, event)
        const state = at(script.states, index)
        const rebuilt = script.events
          .slice(0, index + 1)
          .filter((e) => compareIds(e.id ?? '', state.cursor) > 0)
          .reduce(apply, fromState(state))
        // Text that was cut off by a stop lives in the events alone, until it is written anew.
        const kept = (v: View) => ({ ...seen(v), sections: v.sections.filter((s) => !s.open) })
        expect(kept(rebuilt), `seed ${seed}, event ${event.id}`).toEqual(kept(view))
      })
    }
  })

  test('an event at or before the cursor returns the very same view', () => {
    const script = life(3)
    const view = whole(script)
    for (const event of script.events) expect(apply(view, event)).toBe(view)
  })

  test('an unknown event only moves the cursor', () => {
    const view = apply(EMPTY, { id: '1-1', name: 'from.the.future', data: { a: 1 } })
    expect(view).toEqual({ ...EMPTY, cursor: '1-1' })
  })

  test('f71: the final text replaces the tokens, and late tokens add nothing', () => {
    const events: StreamEvent[] = [
      { id: '1-1', name: 'section.started', data: { version: 1, index: 0, title: 'T', total: 1 } },
      { id: '1-2', name: 'token', data: { section: 0, text: 'draft [S1]' } },
      { id: '1-3', name: 'section', data: section('final [1]') },
      { id: '1-4', name: 'token', data: { section: 0, text: 'late' } },
      { id: '1-5', name: 'section', data: section('final, repaired [1]') },
    ]
    const texts = events.map(
      (_, i) => events.slice(0, i + 1).reduce(apply, EMPTY).sections[0]?.text,
    )
    expect(texts).toEqual(['', 'draft [S1]', 'final [1]', 'final [1]', 'final, repaired [1]'])
  })

  test('a start of the same section discards its tokens', () => {
    const started = { version: 1, index: 0, title: 'T', total: 1 }
    const view = [
      { id: '1-1', name: 'section.started', data: started },
      { id: '1-2', name: 'token', data: { section: 0, text: 'first try' } },
      { id: '2-1', name: 'section.started', data: started },
      { id: '2-2', name: 'token', data: { section: 0, text: 'second' } },
    ].reduce(apply, EMPTY)
    expect(view.sections.map((s) => s.text)).toEqual(['second'])
  })

  test('a new version keeps untouched sections and drops those it has no place for', () => {
    const view = [
      { id: '1-1', name: 'section', data: section('a', 1, 0) },
      { id: '1-2', name: 'section', data: section('b', 1, 1) },
      { id: '1-3', name: 'section', data: section('c', 1, 2) },
      { id: '2-1', name: 'section.started', data: { version: 2, index: 1, title: 'T', total: 2 } },
      { id: '2-2', name: 'section', data: section('B', 2, 1) },
      { id: '2-3', name: 'report', data: { version: 2, title: 'x', partial: true } },
      { id: '2-4', name: 'section', data: section('of an old version', 1, 0) },
    ].reduce(apply, EMPTY)
    expect(view.sections.map((s) => s.text)).toEqual(['a', 'B'])
    expect([view.version, view.partial]).toEqual([2, true])
  })

  test('a requirement never goes back from applied to queued', () => {
    const view = [
      { id: '1-1', name: 'requirement', data: { id: 'r', status: 'applied', sections: [1] } },
      { id: null, name: 'requirement', data: { id: 'r', status: 'queued', message: 'wish' } },
    ].reduce(apply, EMPTY)
    expect(view.requirements).toEqual([
      { id: 'r', status: 'applied', sections: [1], message: 'wish' },
    ])
  })
})

describe('fromState', () => {
  test('keeps the identity of sections that did not change', () => {
    const script = life(5)
    const view = whole(script)
    const again = fromState(at(script.states, script.states.length - 1), view)
    expect(again.sections.length).toBeGreaterThan(1)
    again.sections.forEach((section, index) => expect(section).toBe(view.sections[index]))
  })
})

describe('RereadRule', () => {
  const start = (kind: string, attempt: number): StreamEvent => ({
    id: '7-1',
    name: 'run.started',
    data: { run_id: 'r', kind, attempt },
  })
  test('asks after a gap, once for the same place', () => {
    const rule = new RereadRule()
    const gap = { id: null, name: 'gap', data: { after: '1-5' } }
    rule.adopted(null, '1-5')
    expect(rule.asks(gap)).toBe(true)
    rule.adopted(null, '1-5')
    expect(rule.asks(gap)).toBe(false)
    rule.passed('1-9')
    expect(rule.asks(gap)).toBe(true)
  })
  test('asks after a start that is not a first one, unless the state knew it', () => {
    const rule = new RereadRule()
    expect(rule.asks(start('start', 1))).toBe(false)
    expect(rule.asks(start('start', 2))).toBe(true)
    expect(rule.asks(start('start', 2))).toBe(false)
    expect(rule.asks(start('modify', 1))).toBe(true)
    rule.adopted({ run_id: 'r', kind: 'answer', attempt: 1 }, '7-1')
    expect(rule.asks(start('answer', 1))).toBe(false)
  })
})

function section(markdown: string, version = 1, index = 0) {
  return { version, index, title: 'T', markdown, citations: [], sentences: [] }
}
