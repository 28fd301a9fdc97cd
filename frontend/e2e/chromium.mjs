// A headless Chromium for tests and screenshots: from the PATH, else the one that the npm
// package @sparticuz/chromium carries, unpacked once per version into `.tools/`. Needs no root.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const ARGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const project = fileURLToPath(new URL('../../', import.meta.url))

/** Where the browser is, and what it needs in its environment. */
export async function findChromium() {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path))
  if (onPath !== undefined) return { executablePath: onPath, env: {} }

  const manifest = join(project, 'frontend/node_modules/@sparticuz/chromium/package.json')
  if (!existsSync(manifest)) {
    throw new Error('No Chromium on the PATH and none in frontend/node_modules: run npm ci there.')
  }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  const home = join(project, '.tools', `chromium-${version}`)
  if (!existsSync(join(home, 'chromium'))) await unpack(home)
  const fonts = join(home, 'fonts', 'fonts.conf')
  writeFileSync(
    fonts,
    `<?xml version="1.0"?>\n<fontconfig><dir>${home}/fonts</dir><dir>/usr/share/fonts</dir>` +
      `<cachedir>${home}/fonts-cache</cachedir></fontconfig>\n`,
  )
  const libraries = [join(home, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH ?? '']
  return {
    executablePath: join(home, 'chromium'),
    env: { LD_LIBRARY_PATH: libraries.filter(Boolean).join(':'), FONTCONFIG_FILE: fonts },
  }
}

/** The package unpacks into the temporary folder, with libraries only where it is told so. */
async function unpack(home) {
  mkdirSync(join(project, '.tools'), { recursive: true })
  const fresh = mkdtempSync(join(project, '.tools', 'chromium-'))
  process.env.TMPDIR = fresh
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs22.x'
  const { default: packed } = await import('@sparticuz/chromium')
  await packed.executablePath()
  rmSync(home, { recursive: true, force: true })
  renameSync(fresh, home)
}

/** A running browser, to be closed by the caller. */
export async function launchChromium(options = {}) {
  const { executablePath, env } = await findChromium()
  return chromium.launch({
    executablePath,
    headless: true,
    args: ARGS,
    env: { ...process.env, ...env },
    ...options,
  })
}
