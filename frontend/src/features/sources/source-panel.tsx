import { type KeyboardEvent, useEffect, useRef, useState } from 'react'

import { asProblem } from '../../api/problem'
import { readSource } from '../../api/threads'
import type { Problem, SourceText } from '../../api/types'
import { day } from '../../i18n/format'
import { useLanguage, useText } from '../../i18n/text'
import type { Passage } from '../../shared/passage'
import { ProblemNote } from '../../shared/problem-note'
import { Snapshot } from './snapshot'
import { sourcePlace } from './source-place'

interface Props {
  threadId: string
  passage: Passage
  onClose: () => void
}

/** A stored source with the cited passage marked in it: what was read, as it was read. */
export function SourcePanel({ threadId, passage, onClose }: Props) {
  const text = useText()
  const language = useLanguage()
  const { source, problem } = useSource(threadId, passage.n)
  const panel = useRef<HTMLElement>(null)

  useEffect(() => panel.current?.focus(), [passage])

  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose()
  }
  return (
    <section
      ref={panel}
      className="source-panel"
      data-testid="source-panel"
      aria-labelledby="source-heading"
      tabIndex={-1}
      onKeyDown={onKey}
    >
      <header className="source-head">
        <div>
          <h2 id="source-heading" dir="auto">
            {source?.title ?? text.sourceLoading}
          </h2>
          {source !== null && (
            <p className="quiet">
              {text[source.kind === 'web' ? 'sourceKindWeb' : 'sourceKindDocument']} ·{' '}
              {/^https?:/i.test(source.url) ? (
                <a href={source.url} target="_blank" rel="noopener noreferrer">
                  {sourcePlace(source)}
                </a>
              ) : (
                sourcePlace(source)
              )}
              {source.date ? ` · ${day(source.date, language)}` : ''}
            </p>
          )}
        </div>
        <button type="button" className="icon" aria-label={text.sourceClose} onClick={onClose}>
          ×
        </button>
      </header>
      <ProblemNote problem={problem} />
      {source !== null && <Snapshot text={source.text} passage={passage} />}
    </section>
  )
}

function useSource(threadId: string, n: number) {
  const [source, setSource] = useState<SourceText | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    const control = new AbortController()
    readSource(threadId, n, control.signal)
      .then((found) => {
        setSource(found)
        setProblem(null)
      })
      .catch((error: unknown) => {
        if (!control.signal.aborted) setProblem(asProblem(error).problem)
      })
    return () => control.abort()
  }, [threadId, n])
  return { source: source?.n === n ? source : null, problem }
}
