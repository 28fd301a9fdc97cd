import type { Problem } from '../api/types'
import { problemLine } from '../i18n/problems'
import { useText } from '../i18n/text'

/** What went wrong, in one line, where it went wrong. A missing key has a form of its own. */
export function ProblemNote({ problem }: { problem: Problem | null }) {
  const text = useText()
  if (problem === null || problem.status === 401) return null
  return (
    <p className="problem" role="alert" dir="auto">
      {problemLine(text, problem)}
    </p>
  )
}
