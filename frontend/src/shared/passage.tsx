import { createContext, useContext } from 'react'

/** A place in a stored source; offsets in code points. No span: the source as a whole. */
export interface Passage {
  n: number
  start: number | null
  end: number | null
}

export interface PassageControl {
  current: Passage | null
  open: (passage: Passage, from: HTMLElement) => void
}

/** How a feature opens the source panel without knowing the feature that draws it. */
export const PassageContext = createContext<PassageControl>({
  current: null,
  open: () => undefined,
})

export function usePassage(): PassageControl {
  return useContext(PassageContext)
}
