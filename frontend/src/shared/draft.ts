import { useCallback, useState } from 'react'

/** State that survives a reload: kept in this browser under `name` until it is cleared. */
export function useDraft<T>(
  name: string,
  initial: T,
): [value: T, set: (next: T) => void, clear: () => void] {
  const key = `research.draft.${name}`
  const [value, setValue] = useState<T>(() => read(key, initial))
  const set = useCallback(
    (next: T) => {
      setValue(next)
      write(key, JSON.stringify(next))
    },
    [key],
  )
  const clear = useCallback(() => localStorage.removeItem(key), [key])
  return [value, set, clear]
}

function read<T>(key: string, initial: T): T {
  try {
    const stored = localStorage.getItem(key)
    if (stored === null) return initial
    const value = JSON.parse(stored) as T
    // A shape from an older page is filled up, never trusted to be whole.
    const isRecord = typeof initial === 'object' && initial !== null && !Array.isArray(initial)
    return isRecord ? { ...initial, ...value } : value
  } catch {
    return initial
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage full or forbidden: the draft lives on in memory.
  }
}
