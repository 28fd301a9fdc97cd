import type { Element, ElementContent, Root, Text } from 'hast'

import type { Citation, Sentence } from '../../api/types'
import { utf16Index } from '../../shared/codepoints'

/** What the text of a section carries beside its words. */
export interface Marks {
  citations: Citation[]
  sentences: Sentence[]
  /** A heading at the very start that only repeats this title is left out. */
  title: string
}

const SKIP = new Set(['code', 'pre', 'a', 'button'])
/** The last word with the space behind it; of writing without spaces, the last character. */
const TAIL = /(?:[!-~\u00c0-\u04ff]{1,20}|\S)\s?$/u
const HEADING = /^h[1-6]$/
const MARK = /\[(\d{1,4})\]|\[(S\d{1,4}(?:\s*,\s*S\d{1,4})*)\]/g

/**
 * Rehype plugin, to run after sanitising: `[2]` and, while a section is being written, `[S3]`
 * become `<cite data-…>`; sentences become spans with their verdict. Offsets of sentences are
 * code points of the Markdown, which the positions of text nodes lead back to.
 */
export function rehypeMarks({ citations, sentences, title }: Marks) {
  return (root: Root, file: { value: unknown }) => {
    const markdown = String(file.value)
    const spans = sentences
      .filter((sentence) => sentence.end > sentence.start)
      .map((sentence) => ({
        ...sentence,
        start: utf16Index(markdown, sentence.start),
        end: utf16Index(markdown, sentence.end),
      }))
    dropTitle(root, title)
    levelHeadings(root)
    walk(root, new Marker(citations, spans))
  }
}

function dropTitle(root: Root, title: string): void {
  const at = root.children.findIndex((node) => node.type === 'element')
  const first = root.children[at]
  if (first?.type !== 'element' || !HEADING.test(first.tagName)) return
  if (textOf(first).trim() === title.trim()) root.children.splice(at, 1)
}

/** The section's own title is an h2: headings inside it follow from h3 on, without a leap. */
function levelHeadings(root: Root): void {
  const headings = root.children.filter(
    (node): node is Element => node.type === 'element' && HEADING.test(node.tagName),
  )
  const levels = [...new Set(headings.map((node) => node.tagName))].sort()
  for (const node of headings) {
    node.tagName = `h${Math.min(6, 3 + levels.indexOf(node.tagName))}`
  }
}

function textOf(node: ElementContent): string {
  if (node.type === 'text') return node.value
  return node.type === 'element' ? node.children.map(textOf).join('') : ''
}

function walk(parent: Root | Element, marker: Marker): void {
  const children: (typeof parent.children)[number][] = []
  for (const node of parent.children) {
    if (node.type === 'text') {
      children.push(...marker.split(node))
      continue
    }
    if (node.type === 'element' && !SKIP.has(node.tagName)) walk(node, marker)
    children.push(node)
  }
  parent.children = children
}

class Marker {
  readonly #citations: Citation[]
  readonly #sentences: Sentence[]
  /** Per printed number: which of its citations comes next, and where the last one stood. */
  readonly #seen = new Map<number, { next: number; sentence: Sentence | null; from: Citation }>()

  constructor(citations: Citation[], sentences: Sentence[]) {
    this.#citations = citations
    this.#sentences = sentences
  }

  split(node: Text): ElementContent[] {
    const start = node.position?.start.offset
    const end = node.position?.end.offset
    if (start === undefined || end === undefined) return this.#marked(node.value, null)
    // With escapes in it a text is shorter than its source: then it stays in one piece.
    if (end - start !== node.value.length) return this.#piece(node.value, this.#sentenceAt(start))
    const out: ElementContent[] = []
    let from = start
    while (from < end) {
      const sentence = this.#sentenceAt(from)
      const next = sentence?.end ?? this.#nextStart(from)
      const to = Math.min(end, next)
      out.push(...this.#piece(node.value.slice(from - start, to - start), sentence))
      from = to
    }
    return out
  }

  #sentenceAt(offset: number): Sentence | null {
    return this.#sentences.find((s) => s.start <= offset && offset < s.end) ?? null
  }

  #nextStart(offset: number): number {
    return Math.min(...this.#sentences.map((s) => s.start).filter((s) => s > offset))
  }

  #piece(value: string, sentence: Sentence | null): ElementContent[] {
    const children = this.#marked(value, sentence)
    if (sentence === null) return children
    const properties = {
      dataVerdict: sentence.verdict,
      ...(sentence.reason ? { dataReason: sentence.reason } : {}),
    }
    return [{ type: 'element', tagName: 'span', properties, children }]
  }

  #marked(value: string, sentence: Sentence | null): ElementContent[] {
    const out: ElementContent[] = []
    let from = 0
    for (const match of value.matchAll(MARK)) {
      const made =
        match[1] === undefined
          ? (match[2] ?? '').split(',').map((id) => provisional(Number(id.trim().slice(1))))
          : this.#printed(Number(match[1]), sentence)
      if (made.length === 0) continue
      out.push(...withTail(value.slice(from, match.index), made))
      from = match.index + match[0].length
    }
    if (from < value.length) out.push({ type: 'text', value: value.slice(from) })
    return out
  }

  /** Citations come one per sentence and source, in the order of the text. */
  #printed(number: number, sentence: Sentence | null): Element[] {
    const all = this.#citations.filter((citation) => citation.number === number)
    const seen = this.#seen.get(number)
    const same = seen !== undefined && sentence !== null && seen.sentence === sentence
    const at = seen?.next ?? 0
    const citation = same ? seen.from : (all[at] ?? all.at(-1))
    if (citation === undefined) return []
    if (!same) this.#seen.set(number, { next: at + 1, sentence, from: citation })
    return [cite(`[${number}]`, citation)]
  }
}

/** A mark never stands alone at the start of a line: the end of what it follows comes along. */
function withTail(before: string, marks: Element[]): ElementContent[] {
  const tail = TAIL.exec(before)?.[0] ?? ''
  const head = before.slice(0, before.length - tail.length)
  const out: ElementContent[] = head === '' ? [] : [{ type: 'text', value: head }]
  if (tail === '') return [...out, ...marks]
  const children: ElementContent[] = [{ type: 'text', value: tail }, ...marks]
  return [...out, { type: 'element', tagName: 'span', properties: { dataTail: true }, children }]
}

function cite(label: string, at: { n: number; start?: number; end?: number }): Element {
  const span = at.start === undefined ? {} : { dataStart: at.start, dataEnd: at.end }
  return {
    type: 'element',
    tagName: 'cite',
    properties: { dataN: at.n, ...span },
    children: [{ type: 'text', value: label }],
  }
}

/** The passage behind a mark is only known once its section has been checked. */
function provisional(n: number): Element {
  return cite(`[S${n}]`, { n })
}
