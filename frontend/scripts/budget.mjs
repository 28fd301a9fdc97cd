// Fails the build when the JavaScript of the first load grows over its budget.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const BUDGET_KB = 170
const dist = new URL('../dist/', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist), 'utf8'))

/** The entry, and all chunks it loads at once or in time: a reader needs every one of them. */
const files = new Set()
const visit = (name) => {
  const chunk = manifest[name]
  if (!chunk || files.has(chunk.file)) return
  if (chunk.file.endsWith('.js')) files.add(chunk.file)
  for (const next of [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]) visit(next)
}
visit('index.html')

let total = 0
for (const file of files) total += gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length
const kb = total / 1024
console.log(`JavaScript: ${kb.toFixed(1)} KB gzip in ${files.size} file(s), budget ${BUDGET_KB} KB`)
if (files.size === 0 || kb > BUDGET_KB) {
  console.error(`The page is over its budget of ${BUDGET_KB} KB: drop a dependency or some code.`)
  process.exit(1)
}
