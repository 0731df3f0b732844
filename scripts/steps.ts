import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

/** Runs a program of node_modules on this Node; its output goes to the terminal. True when it succeeded. */
export function runTool(title: string, script: string, args: readonly string[]): boolean {
  console.log(`\n▶ ${title}`)
  const result = spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  return result.status === 0
}

/** Format, lint and types. */
export function runStaticChecks(): boolean {
  const clean = runTool('format and lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings'])
  const typed = runTool('types', 'typescript/bin/tsc', ['--noEmit', '-p', '.'])
  const page = runTool('types of the dashboard', 'typescript/bin/tsc', ['--noEmit', '-p', 'src/dashboard'])
  return clean && typed && page
}
