import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Tests of the command line run the built program, as users do. */
export default function setup(): void {
  const build = join(import.meta.dirname, '..', 'scripts', 'build.ts')
  const result = spawnSync(process.execPath, [build], { encoding: 'utf8' })
  if (result.status !== 0) throw new Error(`The build failed:\n${result.stderr}`)
}
