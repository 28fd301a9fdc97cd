import { type SyntheticEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'

import { startThread } from '../../api/threads'
import type { Depth, StartRequest } from '../../api/types'
import { useText } from '../../i18n/text'
import { length } from '../../shared/codepoints'
import { useDraft } from '../../shared/draft'
import { ProblemNote } from '../../shared/problem-note'
import { navigate, threadPath } from '../../shared/route'
import { useAction } from '../../shared/use-action'
import { uuid } from '../../shared/uuid'
import { DepthChoice } from './depth-choice'
import { LanguageChoice } from './language-choice'

const MAX_QUESTION = 8000

interface Draft {
  question: string
  depth: Depth
  language: string
  review_plan: boolean
  documents: boolean
  web: boolean
  /** The submission under way: sent again, the same request keeps its key. */
  submission: { key: string; body: string } | null
}

const BLANK: Draft = {
  question: '',
  depth: 'standard',
  language: 'auto',
  review_plan: true,
  documents: true,
  web: true,
  submission: null,
}

export function AskForm({ onStarted }: { onStarted: () => void }) {
  const text = useText()
  const [draft, setDraft] = useDraft('ask', BLANK)
  const [hint, setHint] = useState<string | null>(null)
  const { busy, problem, run } = useAction()
  const field = useRef<HTMLTextAreaElement>(null)
  const change = (part: Partial<Draft>) => {
    setHint(null)
    setDraft({ ...draft, ...part })
  }

  useEffect(() => field.current?.focus(), [])

  const refusal = (): string | null => {
    if (!draft.question.trim()) return text.questionBlank
    const size = length(draft.question)
    if (size > MAX_QUESTION) return text.questionLong(size)
    return draft.documents || draft.web ? null : text.sourcesNeeded
  }

  const submit = (event?: SyntheticEvent) => {
    event?.preventDefault()
    if (busy) return
    const refused = refusal()
    setHint(refused)
    if (refused !== null) {
      field.current?.focus()
      return
    }
    const { submission: last, ...request } = draft
    const body = JSON.stringify(request)
    const submission = last?.body === body ? last : { key: uuid(), body }
    setDraft({ ...draft, submission })
    run(async () => {
      const started = await startThread(request satisfies StartRequest, submission.key)
      setDraft({ ...draft, question: '', submission: null })
      onStarted()
      navigate(threadPath(started.thread_id))
    })
  }

  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
  }

  return (
    <form className="ask" onSubmit={submit} noValidate>
      <label className="visually-hidden" htmlFor="question">
        {text.questionLabel}
      </label>
      <textarea
        ref={field}
        id="question"
        className="ask-field"
        data-testid="question"
        dir="auto"
        rows={4}
        value={draft.question}
        placeholder={text.questionPlaceholder}
        aria-invalid={hint !== null}
        aria-describedby="ask-hint"
        onChange={(event) => change({ question: event.target.value })}
        onKeyDown={onKey}
      />
      <DepthChoice value={draft.depth} onChange={(depth) => change({ depth })} />
      <div className="ask-options">
        <label className="check">
          <input
            type="checkbox"
            checked={draft.review_plan}
            onChange={(event) => change({ review_plan: event.target.checked })}
          />
          <span>{text.reviewPlan}</span>
        </label>
        <LanguageChoice value={draft.language} onChange={(language) => change({ language })} />
        <details className="fold">
          <summary>{text.sourcesFold}</summary>
          <div className="fold-body">
            <label className="check">
              <input
                type="checkbox"
                checked={draft.documents}
                onChange={(event) => change({ documents: event.target.checked })}
              />
              <span>{text.sourcesDocuments}</span>
            </label>
            <label className="check">
              <input
                type="checkbox"
                checked={draft.web}
                onChange={(event) => change({ web: event.target.checked })}
              />
              <span>{text.sourcesWeb}</span>
            </label>
          </div>
        </details>
      </div>
      <div id="ask-hint">
        {hint !== null && (
          <p className="problem" role="alert">
            {hint}
          </p>
        )}
        <ProblemNote problem={problem} />
      </div>
      <div className="row">
        <button className="primary" type="submit" data-testid="start" disabled={busy}>
          {busy ? text.starting : text.start}
        </button>
        <span className="quiet wide-only">{text.startHint}</span>
      </div>
    </form>
  )
}
