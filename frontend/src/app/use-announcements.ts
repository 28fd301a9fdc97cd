import { useEffect, useRef } from 'react'

import { STATUS_TEXT } from '../i18n/status'
import { useText } from '../i18n/text'
import { announce } from '../shared/announcer'
import type { View } from '../state/view'

const SIGN: Partial<Record<View['status'], string>> = {
  pending: '… ',
  running: '… ',
  waiting: '? ',
  succeeded: '✓ ',
  failed: '! ',
}

/** Speaks once per section and once per change of status; the tab's title shows the state. */
export function useAnnouncements(view: View | null): void {
  const text = useText()
  const before = useRef<View | null>(null)

  useEffect(() => {
    const old = before.current
    before.current = view
    if (view === null || old === null) return
    if (old.status !== view.status) {
      const isPlan = view.interrupts.some((interrupt) => interrupt.kind === 'review_plan')
      if (view.status === 'waiting') announce(isPlan ? text.planReady : text.answerNeeded)
      else if (view.status === 'succeeded') announce(text.reportReady)
      else announce(text[STATUS_TEXT[view.status]])
      return
    }
    if (old.sections === view.sections) return
    const written = view.sections.find(
      (section) => !section.open && old.sections.some((s) => s.index === section.index && s.open),
    )
    if (written) announce(text.sectionDone(written.title))
  }, [view, text])

  const title = view === null ? text.loading : view.title || view.question
  const sign = view === null ? '' : (SIGN[view.status] ?? '')
  useEffect(() => {
    document.title = `${sign}${title.slice(0, 80)} – ${text.appName}`
  }, [sign, title, text])
}
