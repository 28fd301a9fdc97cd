// A whole session in a real browser, as a person would have it. Run by tests/browser.
// Environment: BASE_URL, CHROMIUM_PATH, CHROMIUM_ARGS (JSON), SHOTS (a folder).
import assert from 'node:assert/strict'
import { chromium } from 'playwright-core'

const base = process.env.BASE_URL
const shots = process.env.SHOTS
const QUESTION = 'How does a cancel reach a run on another worker?'
const PATIENCE = 60_000

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH,
  args: JSON.parse(process.env.CHROMIUM_ARGS ?? '[]'),
  headless: true,
})
const context = await browser.newContext({
  viewport: { width: 1280, height: 900 },
  locale: 'en-US',
})
const page = await context.newPage()
page.setDefaultTimeout(PATIENCE)

const complaints = []
page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
page.on('request', (request) => {
  if (!request.url().startsWith(base)) complaints.push(`foreign request: ${request.url()}`)
})

const at = (id) => page.getByTestId(id)
const status = (name) => page.locator(`[data-testid=status][data-status=${name}]`).waitFor()
const reportText = async () => (await at('report').innerText()).replace(/\s+/g, ' ').trim()
const step = (name) => console.log(`- ${name}`)
const shot = (name) => (shots ? page.screenshot({ path: `${shots}/${name}.png` }) : null)

async function reportLongerThan(length) {
  await page.waitForFunction(
    (least) => (document.querySelector('[data-testid=report]')?.innerText ?? '').length > least,
    length,
  )
}

/** Asked before its documents are indexed, a report is short, and over before the reload. */
async function documentsIndexed() {
  const until = Date.now() + PATIENCE
  while (Date.now() < until) {
    const { documents } = await (await fetch(`${base}/api/runtime`)).json()
    if (documents.total > 0 && documents.pending === 0) return
    await new Promise((done) => setTimeout(done, 200))
  }
  throw new Error('the documents were not indexed in time')
}

try {
  await documentsIndexed()
  step('ask')
  await page.goto(base)
  await at('question').fill(QUESTION)
  await at('start').click()
  await page.waitForURL(/\/t\/[0-9a-f-]{36}$/)
  const threadId = page.url().split('/t/')[1]
  const api = async (path) => (await fetch(`${base}/api/threads/${threadId}${path}`)).json()

  step('edit the plan and approve')
  await status('waiting')
  await at('plan-step-title').first().fill('What a cancel does first')
  const before = await at('plan-step-title').count()
  await at('plan-add').click()
  assert.equal(await at('plan-step-title').count(), before + 1)
  await at('plan-step-title').last().fill('Leases and renewals of a run')
  await shot('plan')
  await at('plan-approve').click()

  step('tokens arrive')
  await status('running')
  await reportLongerThan(80)
  await shot('streaming')

  step('reload in the middle of the stream')
  const seen = await reportText()
  await page.reload()
  await reportLongerThan(seen.length)
  const again = await reportText()
  assert.ok(
    again.startsWith(seen.slice(0, 60)),
    `after the reload the report begins otherwise:\n${again.slice(0, 120)}\n${seen.slice(0, 120)}`,
  )
  const plan = (await api('/state')).values.plan.map((item) => item.title)
  assert.ok(plan.includes('What a cancel does first'), `plan: ${plan}`)
  assert.ok(plan.includes('Leases and renewals of a run'), `plan: ${plan}`)

  step('stop')
  await at('stop').click()
  await status('cancelled')
  assert.equal((await api('/state')).status, 'cancelled')
  await page.reload()
  await status('cancelled')
  assert.equal(await at('stop').count(), 0)

  step('resume to the end')
  await at('resume').click()
  await status('succeeded')
  const report = await api('/report?format=json')
  const shown = await reportText()
  for (const section of report.sections) {
    assert.ok(shown.includes(section.title), `section missing on the page: ${section.title}`)
  }
  await shot('report')

  step('a citation opens its passage')
  await at('citation').first().click()
  await at('passage').first().waitFor()
  const passage = (await at('passage').first().innerText()).replace(/\s+/g, ' ').trim()
  const quotes = report.sections.flatMap((section) => section.citations.map((c) => c.quote))
  assert.ok(
    quotes.some((quote) => quote.replace(/\s+/g, ' ').includes(passage)),
    `the passage is no quote of the report: ${passage}`,
  )
  await shot('passage')

  step('the history has it')
  assert.ok((await at('history-item').count()) >= 1)
  assert.deepEqual(complaints, [])
  console.log('ok')
} catch (error) {
  await shot('failure')
  console.error(complaints.join('\n'))
  throw error
} finally {
  await browser.close()
}
