import { describe, expect, test } from 'vitest'

import { cut, length, utf16Index } from '../src/shared/codepoints'
import { randomFrom } from './script'

describe('cut', () => {
  test('slices by code points as the service counts them', () => {
    const text = 'a😀取消👩‍🔬 end'
    const points = Array.from(text)
    for (let start = 0; start <= points.length; start += 1) {
      for (let end = start; end <= points.length; end += 1) {
        const { before, inside, after } = cut(text, start, end)
        expect(inside).toBe(points.slice(start, end).join(''))
        expect(before + inside + after).toBe(text)
      }
    }
  })

  test('clamps what lies outside', () => {
    expect(cut('ab', 1, 99)).toEqual({ before: 'a', inside: 'b', after: '' })
    expect(cut('ab', 5, 9)).toEqual({ before: 'ab', inside: '', after: '' })
    expect(cut('ab', 1, 0)).toEqual({ before: 'a', inside: '', after: 'b' })
  })

  test('agrees with Array.from on random text', () => {
    const random = randomFrom(7)
    const alphabet = ['a', '取', '😀', '\u0301', '\n', '𝒳']
    for (let round = 0; round < 200; round += 1) {
      const points = Array.from({ length: 30 }, () => alphabet[Math.floor(random() * 6)] ?? '')
      const text = points.join('')
      const offset = Math.floor(random() * 30)
      expect(utf16Index(text, offset)).toBe(points.slice(0, offset).join('').length)
      expect(length(text)).toBe(30)
    }
  })
})
