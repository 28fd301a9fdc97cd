import { describe, expect, test } from 'vitest'

import { backoff } from '../src/api/backoff'
import { compareIds, isEventId } from '../src/api/cursor'
import { moved, toAnswer, toRows } from '../src/features/plan/edited-plan'
import { clock } from '../src/i18n/format'
import { parseRoute } from '../src/shared/route'
import { uuid } from '../src/shared/uuid'

describe('compareIds', () => {
  test('by epoch, then by sequence, exactly', () => {
    const sorted = ['0-0', '1-2', '1-10', '2-1', '10-1', '999999999999999999-999999999999999998']
    expect(sorted.toReversed().sort(compareIds)).toEqual(sorted)
    expect(compareIds('9007199254740993-1', '9007199254740992-1')).toBeGreaterThan(0)
    expect(compareIds('1-1', '1-1')).toBe(0)
    expect(compareIds('junk', '0-0')).toBe(0)
  })
  test('knows an id', () => {
    expect(['1-1', '', '1', '1-1\n', 'a-1', '-1-1'].map(isEventId)).toEqual([
      ...[true, false, false, false, false, false],
    ])
  })
})

test('backoff grows, is bounded, and is spread', () => {
  expect(backoff(0, 500, 15_000, () => 0)).toBe(250)
  expect(backoff(0, 500, 15_000, () => 1)).toBe(500)
  expect(backoff(50, 500, 15_000, () => 1)).toBe(15_000)
  expect(backoff(3, 500, 15_000, () => 0.5)).toBe(3000)
})

test('routes', () => {
  const id = '01900000-0000-7000-8000-000000000001'
  expect(parseRoute('/')).toEqual({ page: 'home' })
  expect(parseRoute(`/t/${id}`)).toEqual({ page: 'thread', threadId: id })
  expect(parseRoute(`/t/${id.toUpperCase()}/`)).toEqual({ page: 'thread', threadId: id })
  expect(parseRoute('/t/../etc')).toEqual({ page: 'home' })
})

test('uuid is a version 4 one', () => {
  expect(uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(Array.from({ length: 100 }, uuid)).size).toBe(100)
})

test('clock', () => {
  expect([0, 61, 3661, -5].map(clock)).toEqual(['0:00', '1:01', '1:01:01', '0:00'])
})

describe('the edited plan', () => {
  const steps = [
    { id: 'a', title: 'A', intent: 'why a', queries: ['1', '2'], status: 'planned' },
    { id: 'b', title: 'B', intent: 'why b', queries: ['3'], status: 'planned' },
  ]
  test('untouched is an approval', () => {
    expect(toAnswer(toRows(steps), steps)).toEqual({ action: 'approve' })
  })
  test('keeps ids, trims, and drops the intent of a rewritten step', () => {
    const [a, b] = toRows(steps)
    if (a === undefined || b === undefined) throw new Error('two rows')
    const rows = [
      b,
      { ...a, title: ' A2 ', queries: ' x \n\n y' },
      { ...b, row: 'new', id: null, title: 'C', queries: '' },
    ]
    expect(toAnswer(rows, steps)).toEqual({
      action: 'edit',
      steps: [
        { id: 'b', title: 'B', intent: 'why b', queries: ['3'] },
        { id: 'a', title: 'A2', intent: '', queries: ['x', 'y'] },
        { title: 'C', intent: '', queries: [] },
      ],
    })
  })
  test('moves within bounds', () => {
    const rows = toRows(steps)
    expect(moved(rows, 0, 1).map((r) => r.id)).toEqual(['b', 'a'])
    expect(moved(rows, 0, -1)).toBe(rows)
    expect(moved(rows, 1, 2)).toBe(rows)
  })
})
