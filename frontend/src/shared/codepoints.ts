/**
 * Offsets of the service count Unicode code points; JavaScript's strings count UTF-16 units.
 * Both functions clamp what lies outside.
 */

/** UTF-16 index of the code point at `offset`. */
export function utf16Index(text: string, offset: number): number {
  let index = 0
  for (let left = offset; left > 0 && index < text.length; left -= 1) {
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  }
  return index
}

/** `text` before, in and after the code points [start, end). */
export function cut(
  text: string,
  start: number,
  end: number,
): { before: string; inside: string; after: string } {
  const from = utf16Index(text, start)
  const to = from + utf16Index(text.slice(from), Math.max(0, end - start))
  return { before: text.slice(0, from), inside: text.slice(from, to), after: text.slice(to) }
}

/** Number of code points. */
export function length(text: string): number {
  return Array.from(text).length
}
