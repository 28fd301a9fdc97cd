import { useCallback, useRef } from 'react'

import { uuid } from './uuid'

/**
 * The Idempotency-Key for a request: the same one as long as the same thing is sent again, a
 * new one once `forget` was called because it was taken.
 */
export function useSubmissionKey(): { of: (request: unknown) => string; forget: () => void } {
  const last = useRef<{ key: string; body: string } | null>(null)
  const of = useCallback((request: unknown) => {
    const body = JSON.stringify(request)
    if (last.current?.body !== body) last.current = { key: uuid(), body }
    return last.current.key
  }, [])
  const forget = useCallback(() => {
    last.current = null
  }, [])
  return { of, forget }
}
