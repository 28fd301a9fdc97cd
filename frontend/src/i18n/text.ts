import { useSyncExternalStore } from 'react'

import { en, type Table } from './en'
import { zh } from './zh'

export type Language = 'en' | 'zh'

export const TABLES: Record<Language, Table> = { en, zh }

const NAME = 'research.language'
const listeners = new Set<() => void>()
let language: Language = initial()

function initial(): Language {
  if (typeof localStorage === 'undefined') return 'en'
  const chosen = localStorage.getItem(NAME)
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.languages
    .find((l) => /^(en|zh)/i.test(l))
    ?.toLowerCase()
    .startsWith('zh')
    ? 'zh'
    : 'en'
}

export function currentLanguage(): Language {
  return language
}

export function chooseLanguage(next: Language): void {
  language = next
  localStorage.setItem(NAME, next)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The table of the chosen language; the component is drawn again when it changes. */
export function useText(): Table {
  return TABLES[useLanguage()]
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, currentLanguage, currentLanguage)
}
