/** The few parts of a browser that the stream's code touches, for tests that run in Node. */

class Box {
  readonly #items = new Map<string, string>()
  getItem(name: string): string | null {
    return this.#items.get(name) ?? null
  }
  setItem(name: string, value: string): void {
    this.#items.set(name, value)
  }
  removeItem(name: string): void {
    this.#items.delete(name)
  }
}

class Page extends EventTarget {
  hidden = false
}

export const page = new Page()

/** Hides or shows the page, as switching tabs does. */
export function setHidden(hidden: boolean): void {
  page.hidden = hidden
  page.dispatchEvent(new Event('visibilitychange'))
}

/** Installs them, with `fetch` going to `origin`. */
export function install(origin: string): void {
  const real = globalThis.fetch
  Object.assign(globalThis, {
    document: page,
    sessionStorage: new Box(),
    localStorage: new Box(),
    requestAnimationFrame: (callback: () => void) => setTimeout(callback, 5),
    cancelAnimationFrame: (id: NodeJS.Timeout) => clearTimeout(id),
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    fetch: (path: string, init: RequestInit) => real(origin + path, init),
  })
}
