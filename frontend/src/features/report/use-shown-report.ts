import { useEffect, useMemo, useState } from 'react'

import { asProblem } from '../../api/problem'
import { readReport } from '../../api/threads'
import type { Problem, Report } from '../../api/types'
import { finalSection } from '../../state/apply-report'
import type { SectionView, View } from '../../state/view'

export interface ShownReport {
  version: number
  sections: SectionView[]
  partial: boolean
  isOld: boolean
  problem: Problem | null
  /** Shows an older version; null goes back to the latest. */
  show: (version: number | null) => void
}

/** Which version is on the page. An older one is read when it is chosen, then kept. */
export function useShownReport(view: View): ShownReport {
  const [chosen, setChosen] = useState<number | null>(null)
  const [old, setOld] = useState<Report | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const wanted = chosen === view.version ? null : chosen

  useEffect(() => {
    if (wanted === null) return
    const control = new AbortController()
    readReport(view.threadId, wanted, control.signal)
      .then((report) => {
        setOld(report)
        setProblem(null)
      })
      .catch((error: unknown) => {
        if (!control.signal.aborted) setProblem(asProblem(error).problem)
      })
    return () => control.abort()
  }, [wanted, view.threadId])

  const oldSections = useMemo(() => old?.sections.map(finalSection) ?? [], [old])
  const ready = wanted !== null && old?.version === wanted
  return {
    version: ready ? wanted : view.version,
    sections: ready ? oldSections : view.sections,
    partial: ready ? old.partial : view.partial,
    isOld: ready,
    problem,
    show: setChosen,
  }
}
