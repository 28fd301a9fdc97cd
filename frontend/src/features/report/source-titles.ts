import { createContext, useContext } from 'react'

/** Titles of the thread's sources by `n`, for those marks that name them. */
export const SourceTitles = createContext<ReadonlyMap<number, string>>(new Map())

export function useSourceTitle(n: number): string {
  return useContext(SourceTitles).get(n) ?? ''
}
