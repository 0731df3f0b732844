import { absolutePath, realPathOf } from '../../core/real-path.ts'
import type { CommandAnalysis } from './types.ts'

/** Where programs find what they are told to run by name. */
const ORDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['make', ['GNUmakefile', 'makefile', 'Makefile']],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['rake', ['Rakefile', 'rakefile']],
  ['task', ['Taskfile.yml', 'Taskfile.yaml']],
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name): [string, string[]] => [name, ['package.json']]),
])

/**
 * Real paths of the files whose code the words of a line start: programs by their path, and the files that runners take
 * their orders from. A yes to `./deploy.sh` or `make deploy` is one to what these say now.
 */
export function startedFiles({ commands }: CommandAnalysis): string[] {
  const found = commands.flatMap(({ program, cwds }) => {
    if (program === null) return []
    const names = program.includes('/') ? [program] : (ORDERS.get(program) ?? [])
    return (cwds ?? []).flatMap(cwd => names.map(name => realPathOf(absolutePath(name, cwd))))
  })
  return [...new Set(found)]
}
