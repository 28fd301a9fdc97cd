import { useCallback, useEffect, useState } from 'react'

import { asProblem } from '../../api/problem'
import { listThreads } from '../../api/threads'
import type { Problem, ThreadSummary } from '../../api/types'

interface Page {
  threads: ThreadSummary[]
  next: string | null
}

/** The caller's threads, newest first, as far as they were asked for; searched as one types. */
export function useHistory(generation: number) {
  const [query, setQuery] = useState('')
  const [page, setPage] = useState<Page | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)

  useEffect(() => {
    const control = new AbortController()
    const load = () => {
      listThreads(query.trim(), null, control.signal)
        .then((first) => {
          setPage(first)
          setProblem(null)
        })
        .catch((error: unknown) => {
          if (!control.signal.aborted) setProblem(asProblem(error).problem)
        })
    }
    const timer = setTimeout(load, query ? 250 : 0)
    const onVisible = () => {
      if (!document.hidden) load()
    }
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      clearTimeout(timer)
      control.abort()
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [query, generation])

  const next = page?.next ?? null
  const more = useCallback(() => {
    listThreads(query.trim(), next)
      .then((following) => {
        setPage((old) => ({
          threads: [...(old?.threads ?? []), ...following.threads],
          next: following.next,
        }))
      })
      .catch((error: unknown) => setProblem(asProblem(error).problem))
  }, [query, next])

  return {
    query,
    setQuery,
    threads: page?.threads ?? [],
    loaded: page !== null,
    more: next === null ? null : more,
    problem,
  }
}
