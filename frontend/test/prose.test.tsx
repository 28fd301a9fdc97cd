import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'

import type { Citation, Sentence } from '../src/api/types'
import { blocks } from '../src/features/report/blocks'
import { heal } from '../src/features/report/hold-back'
import { Prose } from '../src/features/report/prose'
import { length } from '../src/shared/codepoints'
import { randomFrom } from './script'

function html(markdown: string, more: Partial<Parameters<typeof Prose>[0]> = {}): string {
  return renderToStaticMarkup(<Prose markdown={markdown} {...more} />)
}

function textOf(markup: string): string {
  return markup.replace(/<[^>]*>/g, '')
}

function cited(number: number, n: number, start: number): Citation {
  return { number, n, start, end: start + 1, quote: 'q' }
}

/** Sentences of `markdown` cut after each piece given, in code points. */
function sentences(pieces: [text: string, verdict: Sentence['verdict']][]): Sentence[] {
  let start = 0
  return pieces.map(([text, verdict]) => {
    const made = { start, end: start + length(text), verdict, reason: `why ${verdict}` }
    start = made.end
    return made
  })
}

describe('Prose', () => {
  test('a number with a citation is a link with its place; one without stays text', () => {
    const out = html('Known [1], unknown [7], and `[1]` in code.', { citations: [cited(1, 3, 5)] })
    expect(out.match(/data-testid="citation"/g)).toHaveLength(1)
    expect(out).toContain('href="#source-3"')
    expect(out).toContain('unknown [7]')
    expect(out).toContain('<code>[1]</code>')
    expect(textOf(out)).toBe('Known [1], unknown [7], and [1] in code.')
  })

  test('while written, marks of sources are links; so are several in one bracket', () => {
    const out = html('A [S3]. B [S1, S2].')
    expect(textOf(out)).toBe('A [S3]. B [S1][S2].')
    expect([...out.matchAll(/#source-(\d)/g)].map((m) => m[1])).toEqual(['3', '1', '2'])
  })

  test('sentences carry their verdict, also after characters outside the BMP', () => {
    const pieces: [string, Sentence['verdict']][] = [
      ['😀 First **bold** one [1]. ', 'kept'],
      ['取消 second 😀.', 'repaired'],
    ]
    const markdown = pieces.map(([text]) => text).join('')
    const out = html(markdown, { sentences: sentences(pieces), citations: [cited(1, 1, 0)] })
    const flat = out.replace(/<span class="nowrap">(.*?)<\/span>/g, '$1')
    const kept = [...flat.matchAll(/<span data-verdict="kept">(.*?)<\/span>/g)].map(
      (m) => m[1] ?? '',
    )
    const repaired = /<span data-verdict="repaired" title="why repaired">(.*?)<\/span>/.exec(out)
    expect(textOf(kept.join(''))).toBe('😀 First bold one [1]. ')
    expect(repaired?.[1]).toBe('取消 second 😀.')
    expect(out).not.toContain('title="why kept"')
  })

  test('the same number in two sentences leads to the passage of each', () => {
    const pieces: [string, Sentence['verdict']][] = [
      ['One [1] and again [1]. ', 'kept'],
      ['Two [1].', 'kept'],
    ]
    const seen: string[] = []
    const markdown = pieces.map(([text]) => text).join('')
    const out = html(markdown, {
      sentences: sentences(pieces),
      citations: [cited(1, 4, 10), cited(1, 4, 20)],
    })
    for (const match of out.matchAll(/data-start="(\d+)"/g)) seen.push(match[1] ?? '')
    expect(seen).toEqual(['10', '10', '20'])
  })

  test('raw HTML, scripts, pictures and odd addresses never get through', () => {
    const out = html(
      'Text <script>alert(1)</script> <img src=x onerror=y> ![a](https://example.org/x.png) ' +
        '[j](javascript:alert(1)) [ok](https://example.org) <b onclick=x>t</b>',
    )
    expect(out).not.toMatch(/<script|<img|javascript:|<b /)
    expect(out).toContain(
      '<a href="https://example.org" target="_blank" rel="noopener noreferrer">',
    )
  })

  test('a heading that only repeats the title is left out, other headings step down', () => {
    const out = html('## Title\n\nText\n\n## Other\n\n#### Deep', { title: 'Title' })
    expect(out).not.toContain('Title')
    expect(out).toContain('<h3>Other</h3>')
    expect(out).toContain('<h4>Deep</h4>')
  })

  test('tables are tables', () => {
    expect(html('| a | b |\n| --- | --- |\n| 1 | 2 |')).toMatch(/<table>.*<td>2<\/td>/s)
  })
})

describe('heal', () => {
  test('holds back a mark that is not whole, and makes no false link of it', () => {
    for (const half of ['[', '[1', '[S', '[S12', '[S1, S', '[S1][', '[S1][S2']) {
      const out = html(heal(`Text ${half}`))
      expect(out, half).not.toMatch(/href="(?!#source)/)
      expect(textOf(out), half).toMatch(/^Text ?(\[S1\])?$/)
    }
    expect(heal('Text [S1]')).toBe('Text [S1]')
  })
  test('closes what is open', () => {
    expect(html(heal('a **bo'))).toContain('<strong>bo</strong>')
    expect(html(heal('a `co'))).toContain('<code>co</code>')
  })
})

describe('blocks', () => {
  const report =
    'One.\n\nTwo\nlines.\n\n- a\n\n- b\n\n  more of b\n\n1. x\n2. y\n\n```\ncode\n\nstill code\n```\n\n' +
    '| a | b |\n| - | - |\n| 1 | 2 |\n\n> quote\n\n> same\n\nLast.'

  test('put together they are the text, and all but the last never change', () => {
    let before: string[] = []
    for (let end = 1; end <= report.length; end += 1) {
      const now = blocks(report.slice(0, end))
      expect(now.join('\n').trimEnd()).toBe(report.slice(0, end).trimEnd())
      // What was final stays final, except that a blank line may yet prove to join two.
      const final = before.slice(0, -1)
      expect(now.slice(0, final.length)).toEqual(final)
      before = now
    }
    expect(before.length).toBe(4)
  })

  test('lists, fences and quotes stay whole', () => {
    const parts = blocks(report)
    expect(parts.find((part) => part.includes('- a'))).toContain('more of b')
    expect(parts.find((part) => part.includes('```'))).toContain('still code')
    expect(parts.find((part) => part.includes('> quote'))).toContain('> same')
  })

  test('drawn in blocks, a streamed text says at each moment what it says as a whole', () => {
    const random = randomFrom(4)
    for (let round = 0; round < 40; round += 1) {
      const soFar = heal(report.slice(0, Math.floor(random() * report.length)))
      const drawn = blocks(soFar).map((block) => textOf(html(block)))
      const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ')
      expect(words(drawn.join(' '))).toBe(words(textOf(html(soFar)).replaceAll('\n', ' ')))
    }
  })
})
