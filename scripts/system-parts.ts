import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export interface SystemPart {
  readonly program: string
  readonly package: string
}

/** Programs that tests use and npm does not bring. */
export const TEST_PARTS: readonly SystemPart[] = [
  { program: 'git', package: 'git' },
  { program: 'bwrap', package: 'bubblewrap' },
  { program: 'chromium', package: 'chromium' },
  { program: 'zsh', package: 'zsh' },
  { program: 'fish', package: 'fish' },
  { program: 'rg', package: 'ripgrep' },
  { program: 'pytest-3', package: 'python3-pytest' },
]

/** Installs what is missing where that is possible (root on Debian or Ubuntu), otherwise says what is missing. */
export function installSystemParts(parts: readonly SystemPart[]): void {
  const missing = parts.filter(part => !isInstalled(part.program))
  if (missing.length === 0) return
  const names = missing.map(part => part.package)
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(`Missing system parts: ${names.join(', ')}. Tests that need them are skipped and counted.`)
    return
  }
  console.log(`Installing ${names.join(', ')} with apt-get…`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...names]
  const first = spawnSync(install[0] ?? '', install.slice(1), { stdio: 'ignore', env })
  if (first.status === 0) return
  // The list of packages may be old or missing.
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env })
  const second = spawnSync(install[0] ?? '', install.slice(1), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  })
  if (second.status !== 0)
    console.log(`apt-get could not install ${names.join(', ')}; tests that need them are skipped.`)
}

function isInstalled(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(':')
  return folders.some(folder => existsSync(`${folder}/${program}`))
}
