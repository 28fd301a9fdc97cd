// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { AskForm } from '../src/features/ask/ask-form'
import { AnswerBox } from '../src/features/plan/answer-box'

const calls: { path: string; key: string | null; body: unknown }[] = []
let answers: (() => Response)[] = []

function problem(status: number, kind: string): Response {
  const body = { type: `/problems/${kind}`, title: 'No', status, detail: 'what is wrong' }
  return Response.json(body, { status })
}

beforeEach(() => {
  calls.length = 0
  answers = []
  localStorage.clear()
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const key = new Headers(init.headers).get('Idempotency-Key')
    calls.push({ path, key, body: JSON.parse(init.body as string) as unknown })
    const answer = answers.shift()
    return answer === undefined
      ? Promise.reject(new TypeError('network'))
      : Promise.resolve(answer())
  })
})

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const field = (id: string) => screen.getByTestId<HTMLTextAreaElement>(id)
const type = (id: string, value: string) => fireEvent.change(field(id), { target: { value } })
const click = (id: string) =>
  act(async () => {
    fireEvent.click(screen.getByTestId(id))
    await Promise.resolve()
  })

describe('AskForm', () => {
  test('f15: the same submission keeps its key; a changed one gets another', async () => {
    render(<AskForm onStarted={() => undefined} />)
    type('question', 'Why?')
    await click('start')
    await click('start')
    type('question', 'Why not?')
    await click('start')
    const keys = calls.map((call) => call.key)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(keys[1]).toBe(keys[0])
    expect(keys[2]).not.toBe(keys[0])
    expect(field('question').value).toBe('Why not?')
  })

  test('the draft and the key of a lost submission outlive the page', async () => {
    const first = render(<AskForm onStarted={() => undefined} />)
    type('question', 'Why?')
    await click('start')
    first.unmount()
    render(<AskForm onStarted={() => undefined} />)
    expect(field('question').value).toBe('Why?')
    answers = [
      () => Response.json({ thread_id: '01900000-0000-7000-8000-000000000001' }, { status: 202 }),
    ]
    await click('start')
    expect(calls[1]?.key).toBe(calls[0]?.key)
    expect(location.pathname).toBe('/t/01900000-0000-7000-8000-000000000001')
    expect(field('question').value).toBe('')
  })

  test('a blank or over-long question is refused here, and nothing is sent', async () => {
    render(<AskForm onStarted={() => undefined} />)
    for (const bad of ['  \n', '😀'.repeat(8001)]) {
      type('question', bad)
      await click('start')
      expect(screen.getByRole('alert').textContent).not.toBe('')
    }
    expect(calls).toEqual([])
  })
})

describe('the plan editor', () => {
  const steps = ['A', 'B', 'C'].map((title) => ({
    id: title.toLowerCase(),
    title,
    intent: '',
    queries: [title],
    status: 'planned',
  }))
  const interrupt = { id: 'i1', kind: 'review_plan', payload: { steps } }
  const titles = () =>
    screen.getAllByTestId<HTMLTextAreaElement>('plan-step-title').map((input) => input.value)
  const show = (onAnswered = () => undefined) =>
    render(<AnswerBox threadId="t" interrupt={interrupt} onAnswered={onAnswered} />)

  test.each([
    [422, 'validation', 'what is wrong'],
    [409, 'already-answered', 'already answered'],
  ])('after a %i nothing typed is lost, and the line says why', async (status, kind, line) => {
    show()
    const first = screen.getAllByTestId('plan-step-title')[0] as HTMLTextAreaElement
    fireEvent.change(first, { target: { value: 'Mine' } })
    answers = [() => problem(status, kind)]
    await click('plan-approve')
    expect(screen.getByRole('alert').textContent).toContain(line)
    expect(titles()).toEqual(['Mine', 'B', 'C'])
    cleanup()
    show()
    expect(titles()).toEqual(['Mine', 'B', 'C'])
  })

  test('moves rows by keyboard and by buttons, adds, removes, and sends the result', async () => {
    const answered = vi.fn()
    show(answered)
    const rows = screen.getAllByTestId('plan-step-title')
    fireEvent.keyDown(rows[2] as HTMLElement, { key: 'ArrowUp', altKey: true })
    expect(titles()).toEqual(['A', 'C', 'B'])
    expect((document.activeElement as HTMLTextAreaElement).value).toBe('C')
    fireEvent.click(screen.getByLabelText('Move step 1 down'))
    fireEvent.click(screen.getByLabelText('Remove step 3'))
    await click('plan-add')
    await click('plan-approve') // refused: the new step has no title yet
    expect(calls).toEqual([])
    fireEvent.change(document.activeElement as HTMLElement, { target: { value: 'New' } })
    expect(titles()).toEqual(['C', 'A', 'New'])
    answers = [() => Response.json({}, { status: 202 })]
    await click('plan-approve')
    expect(calls[0]?.body).toEqual({
      interrupt_id: 'i1',
      value: {
        action: 'edit',
        steps: [
          { id: 'c', title: 'C', intent: '', queries: ['C'] },
          { id: 'a', title: 'A', intent: '', queries: ['A'] },
          { title: 'New', intent: '', queries: [] },
        ],
      },
    })
    expect(answered).toHaveBeenCalledTimes(1)
    expect(screen.getByTestId<HTMLButtonElement>('plan-approve').disabled).toBe(true)
  })

  test('untouched it approves; a wish in words asks for a revision', async () => {
    show()
    answers = [() => problem(503, 'draining'), () => Response.json({}, { status: 202 })]
    await click('plan-approve')
    expect(calls[0]?.body).toEqual({ interrupt_id: 'i1', value: { action: 'approve' } })
    type('plan-feedback', ' shorter ')
    await click('plan-revise')
    expect(calls[1]?.body).toEqual({
      interrupt_id: 'i1',
      value: { action: 'revise', feedback: 'shorter' },
    })
  })
})
