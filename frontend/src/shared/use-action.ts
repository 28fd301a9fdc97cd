import { useCallback, useState } from 'react'

import { asProblem } from '../api/problem'
import type { Problem } from '../api/types'

/** A call to the server from a control: whether it is under way, and what it failed with. */
export function useAction(): {
  busy: boolean
  problem: Problem | null
  run: (action: () => Promise<void>) => void
} {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = useCallback((action: () => Promise<void>) => {
    setBusy(true)
    setProblem(null)
    action()
      .catch((error: unknown) => setProblem(asProblem(error).problem))
      .finally(() => setBusy(false))
  }, [])
  return { busy, problem, run }
}
