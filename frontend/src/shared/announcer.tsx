import { useSyncExternalStore } from 'react'

let message = ''
const listeners = new Set<() => void>()

/** Speaks a line through the page's one polite live region. */
export function announce(line: string): void {
  message = line
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Announcer() {
  const line = useSyncExternalStore(subscribe, () => message)
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {line}
    </div>
  )
}
