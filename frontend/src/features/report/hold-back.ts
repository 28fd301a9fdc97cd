import remend from 'remend'

/** A citation mark that may still grow: `[`, `[S1`, `[S1, S2`. A half one is not shown. */
const HALF_MARK = /\[[^\][\n]{0,24}$/

/** Streamed Markdown made whole for now: no half mark, no unclosed emphasis or code. */
export function heal(text: string): string {
  return remend(text.replace(HALF_MARK, ''), {
    links: false,
    images: false,
    katex: false,
    linkMode: 'text-only',
  })
}
