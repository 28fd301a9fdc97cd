import { useSyncExternalStore } from 'react'

/** Where the page is: all of it is in the address, so reload, back and forward just work. */
export type Route = { page: 'home' } | { page: 'thread'; threadId: string }

const THREAD = /^\/t\/([0-9a-f-]{36})\/?$/i
const CHANGED = 'research:route'

export function parseRoute(path: string): Route {
  const match = THREAD.exec(path)
  return match?.[1] === undefined
    ? { page: 'home' }
    : { page: 'thread', threadId: match[1].toLowerCase() }
}

export function threadPath(threadId: string): string {
  return `/t/${threadId}`
}

export function navigate(path: string): void {
  if (path !== location.pathname) history.pushState(null, '', path)
  window.dispatchEvent(new Event(CHANGED))
  window.scrollTo(0, 0)
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener)
  window.addEventListener(CHANGED, listener)
  return () => {
    window.removeEventListener('popstate', listener)
    window.removeEventListener(CHANGED, listener)
  }
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname)
}
