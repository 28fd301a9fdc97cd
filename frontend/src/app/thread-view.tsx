import { useMemo } from 'react'

import type { Requirement } from '../api/types'
import { Activity } from '../features/activity/activity'
import { RequirementBox } from '../features/controls/requirement-box'
import { StatusBar } from '../features/controls/status-bar'
import { AnswerBox } from '../features/plan/answer-box'
import { Report } from '../features/report/report'
import { useShownReport } from '../features/report/use-shown-report'
import { SourceList } from '../features/sources/source-list'
import { SourcePanel } from '../features/sources/source-panel'
import { useText } from '../i18n/text'
import { type Passage, PassageContext } from '../shared/passage'
import type { ThreadStore } from '../state/store'
import type { View } from '../state/view'

interface Props {
  view: View
  store: ThreadStore
  passage: Passage | null
  open: (passage: Passage, from: HTMLElement) => void
  close: () => void
}

/** A thread as it stands: question, status, what it waits for, activity, report, sources. */
export function ThreadView({ view, store, passage, open, close }: Props) {
  const text = useText()
  const shown = useShownReport(view)
  const control = useMemo(() => ({ current: passage, open }), [passage, open])
  const onAdded = (requirement: Requirement, newRun: boolean) => {
    store.told({ name: 'requirement', data: { ...requirement } })
    if (newRun) store.reload()
  }
  const hasTitle = view.title !== '' && !saysTheSame(view.title, view.question)
  return (
    <PassageContext value={control}>
      <div className="thread">
        <div className="thread-main">
          <h1 dir="auto">{hasTitle ? view.title : view.question}</h1>
          {hasTitle && (
            <p className="thread-question" dir="auto">
              {view.question}
            </p>
          )}
          <StatusBar view={view} onChanged={store.reload} />
          {view.status === 'waiting' &&
            view.interrupts.map((interrupt) => (
              <AnswerBox
                key={interrupt.id}
                threadId={view.threadId}
                interrupt={interrupt}
                onAnswered={store.reload}
              />
            ))}
          <Activity view={view} />
          <Report view={view} shown={shown} />
          <RequirementBox view={view} onAdded={onAdded} />
        </div>
        <aside className="thread-side" aria-label={text.sources}>
          {passage !== null && (
            <SourcePanel threadId={view.threadId} passage={passage} onClose={close} />
          )}
          <SourceList sources={view.sources} sections={shown.sections} />
        </aside>
      </div>
    </PassageContext>
  )
}

/** A title that is the question again, but for its marks and capitals, is shown once. */
function saysTheSame(title: string, question: string): boolean {
  const letters = (text: string) => text.toLowerCase().replace(/[\p{P}\p{S}\s]/gu, '')
  return letters(title) === letters(question)
}
