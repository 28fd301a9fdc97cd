/** A line that may belong to the block before it although a blank line lies between; a list
 * mark that is not whole yet counts too. */
const CONTINUES = /^(\s|[-*+](\s|$)|\d{1,9}([.)](\s|$)|$)|>|\|)/
const FENCE = /^\s{0,3}(```|~~~)/

/**
 * Streamed Markdown in blocks: all but the last are final, so they are drawn once. Cut only at
 * blank lines after which something new begins: never in a fence, a list or a table.
 */
export function blocks(text: string): string[] {
  const done: string[] = []
  const lines = text.split('\n')
  let current: string[] = []
  let fence: string | null = null
  lines.forEach((line, index) => {
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined) {
      if (fence === null) fence = mark
      else if (fence === mark) fence = null
    }
    current.push(line)
    const next = lines[index + 1]
    const cut = fence === null && line.trim() === '' && next !== undefined && next.trim() !== ''
    if (cut && !CONTINUES.test(next)) {
      done.push(current.join('\n'))
      current = []
    }
  })
  const rest = current.join('\n')
  return rest.trim() === '' ? done : [...done, rest]
}
