/** The API key of this browser, if the service asks for one. */

const NAME = 'research.key'
const listeners = new Set<() => void>()

interface AuthState {
  /** True after a 401, until a key was entered. */
  needed: boolean
  /** Rises with every key entered: what depends on the key starts afresh. */
  generation: number
  /** True when a key was there and the server refused it. */
  refused: boolean
}

let state: AuthState = { needed: false, generation: 0, refused: false }

function set(next: AuthState): void {
  state = next
  for (const listener of listeners) listener()
}

export function currentKey(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME)
}

/** Keeps the key for this tab, or for this browser with `remember`. */
export function enterKey(key: string, remember: boolean): void {
  sessionStorage.removeItem(NAME)
  localStorage.removeItem(NAME)
  ;(remember ? localStorage : sessionStorage).setItem(NAME, key)
  set({ needed: false, generation: state.generation + 1, refused: false })
}

/** Called at a 401. `used` is the key that was sent: a newer one may already be there. */
export function keyRefused(used: string | null): void {
  if (used !== currentKey() || state.needed) return
  set({ ...state, needed: true, refused: used !== null })
}

export function subscribeAuth(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function authState(): AuthState {
  return state
}
