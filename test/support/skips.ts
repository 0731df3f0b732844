import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'

// What a machine may lack, as the end of a test's name: whoever reads the report sees what was not tried, and why.

const system = findSandboxSystem()

/** '' where there is a sandbox. */
export const noSandbox = typeof system === 'string' ? ` (skipped: ${system})` : ''

export const NOBODY = 65_534

/** The beginning of a command that is run by an ordinary user who owns nothing. */
export const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

/** '' where tests can become that user. */
export const noOrdinaryUser =
  process.getuid?.() !== 0
    ? ' (skipped: only root can become another user)'
    : mayEnter()
      ? ''
      : ' (skipped: an ordinary user cannot enter the folder of this project)'

function mayEnter(): boolean {
  const script = `require('node:fs').accessSync(${JSON.stringify(import.meta.filename)})`
  const [file = '', ...words] = [...AS_NOBODY, process.execPath, '-e', script]
  return spawnSync(file, words).status === 0
}

/** Debian's and others' names of the browser that tests look at the dashboard with. */
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
export const BROWSER = BROWSERS.find(path => existsSync(path)) ?? ''

/** '' where there is one. */
export const noBrowser = BROWSER === '' ? ' (skipped: there is no chromium)' : ''

/** '' where Debian's pytest is, which commands in the sandbox find too. */
export const noPytest = existsSync('/usr/bin/pytest-3') ? '' : ' (skipped: there is no pytest)'
