import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { en } from '../src/i18n/en'
import { zh } from '../src/i18n/zh'

type Entry = string | ((...args: never[]) => string)

const SAMPLE = ['7', '8'] as never[]
const entries = (table: object) => Object.entries(table as Record<string, Entry>)
const said = (entry: Entry) => (typeof entry === 'string' ? entry : entry(...SAMPLE))

describe('the table of texts', () => {
  test('has the same keys in both languages, with as many blanks to fill', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
    const other = new Map(entries(zh))
    for (const [key, entry] of entries(en)) {
      const twin = other.get(key)
      expect(typeof twin, key).toBe(typeof entry)
      if (typeof entry === 'function' && typeof twin === 'function') {
        for (let i = 0; i < entry.length; i += 1) expect(said(twin), key).toContain(SAMPLE[i])
      }
    }
  })

  test('is never blank, and Chinese is Chinese', () => {
    for (const [key, entry] of [...entries(en), ...entries(zh)])
      expect(said(entry).trim(), key).not.toBe('')
    const same = entries(zh).filter(
      ([, entry]) => !/[\u3000-\u9fff\uff00-\uffef]/.test(said(entry)),
    )
    expect(same.map(([key]) => key)).toEqual([])
  })

  test('has no text that nobody shows', () => {
    const source = readAll(new URL('../src', import.meta.url).pathname)
    const unused = Object.keys(en).filter(
      (key) => !new RegExp(`\\b(text|words)\\.${key}\\b|'${key}'`).test(source),
    )
    expect(unused).toEqual([])
  })
})

function readAll(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(
      (entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/^(en|zh)\.ts$/.test(entry.name),
    )
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}
