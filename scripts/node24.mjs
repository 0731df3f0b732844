// Runs a script of this project on Node >= 24, whatever Node the machine has, and installs the npm packages first
// when they are missing or older than the lockfile. Plain JavaScript without dependencies: it must start on Node 20
// in a clone where nothing is installed.
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const wanted = join(root, 'package-lock.json')
// npm does not touch this copy, so a difference means "the lockfile changed since the last install".
const installed = join(root, 'node_modules', '.kogu-installed-lock.json')

export function installPackages({ quiet }) {
  if (existsSync(installed) && readFileSync(installed).equals(readFileSync(wanted))) return
  if (!quiet) console.error('kogu: installing npm packages…')
  // --ignore-scripts: no dependency of ours may need an install script, so none gets to run one. Not `npm ci`: it fails
  // when a registry does not offer the packages of other platforms; this takes the same versions from the lockfile.
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const result = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
    encoding: 'utf8',
  })
  if (result.status !== 0) {
    console.error(`kogu: npm install failed.\n${result.stderr ?? result.error?.message ?? ''}`)
    process.exit(1)
  }
  copyFileSync(wanted, installed)
}

/** The path of a Node >= 24: this one, or the binary that came with the npm packages. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  const require = createRequire(join(root, 'package.json'))
  const platform = process.platform === 'win32' ? 'win' : process.platform
  for (const name of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    try {
      const file = require.resolve(`${name}/package.json`)
      return join(dirname(file), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    } catch {
      // Not the package of this platform: try the next name.
    }
  }
  console.error(
    `kogu: needs Node 24 or newer. This is ${process.version}, and no bundled Node exists for ${process.platform} ${process.arch}.`,
  )
  process.exit(1)
}

/** Node's arguments, so that TypeScript sources run as they are. */
export const nodeFlags = ['--disable-warning=ExperimentalWarning']

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [script, ...args] = process.argv.slice(2)
  installPackages({ quiet: false })
  const node = findNode()
  const env = {
    ...process.env,
    PATH: `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`,
  }
  const child = spawn(node, [...nodeFlags, join(root, script), ...args], { stdio: 'inherit', env })
  // A script that serves something ends it in order. Ctrl-C reaches it without us; we only wait for it.
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGINT', () => undefined)
  child.on('exit', code => process.exit(code ?? 1))
}
