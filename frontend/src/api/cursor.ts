/** Event ids `<epoch>-<seq>`: compared number by number, exactly, at any length. */

const ID = /^(\d{1,18})-(\d{1,18})$/

export const START = '0-0'

export function isEventId(text: string): boolean {
  return ID.test(text)
}

/** Negative, zero or positive, as for `sort`. What is no id counts as the very start. */
export function compareIds(a: string, b: string): number {
  const [, epochA = '0', seqA = '0'] = ID.exec(a) ?? []
  const [, epochB = '0', seqB = '0'] = ID.exec(b) ?? []
  return compareDigits(epochA, epochB) || compareDigits(seqA, seqB)
}

function compareDigits(a: string, b: string): number {
  const left = a.replace(/^0+(?=\d)/, '')
  const right = b.replace(/^0+(?=\d)/, '')
  if (left.length !== right.length) return left.length - right.length
  return left < right ? -1 : left > right ? 1 : 0
}
