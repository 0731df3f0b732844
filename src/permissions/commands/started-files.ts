import { resolve } from 'node:path'
import { lookAt, realPathOf } from '../../core/real-path.ts'
import { entriesFor } from './args.ts'
import type { CommandAnalysis, FoundCommand } from './types.ts'

/** Where programs find what they are told to run by name, in their folder and in those that they are given. */
const ORDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['make', ['GNUmakefile', 'makefile', 'Makefile']],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['rake', ['Rakefile', 'rakefile']],
  ['task', ['Taskfile.yml', 'Taskfile.yaml']],
  ['cargo', ['Cargo.toml', 'build.rs']],
  ['docker', ['Dockerfile', 'compose.yaml', 'compose.yml', 'docker-compose.yml']],
  ['gradle', ['build.gradle', 'build.gradle.kts']],
  ['mvn', ['pom.xml']],
  ...entriesFor('npm pnpm yarn bun', ['package.json']),
])

/** Commands that run code which their words or their input name. */
const STARTING = /^(?:runs-code|package-scripts|containers|database|remote-shell)$/

/** A yes to `./deploy.sh`, `bash s.sh` or `make deploy` is one to what these files say now. Real paths. */
export interface StartedFiles {
  /** What runners take their orders from. */
  readonly orders: readonly string[]
  /** What words and redirects name: programs, arguments of interpreters, input. They need not exist yet. */
  readonly named: readonly string[]
  /** A word is only known when the line runs, so other files may be started too. */
  readonly isOpen: boolean
}

export function startedFiles({ commands, access, ...line }: CommandAnalysis): StartedFiles {
  const starting = commands.filter(({ effects }) => effects.some(effect => STARTING.test(effect)))
  const inputs = access.flatMap(item => (item.kind === 'file_read' ? [item.path] : []))
  const from = ({ cwds }: FoundCommand, names: readonly string[]): string[] =>
    (cwds ?? []).flatMap(cwd => names.flatMap(name => realOf(resolve(cwd, name))))
  const named = new Set(starting.flatMap(found => from(found, [...namesIn(found), ...inputs])))
  const folders = new Set([...named].filter(path => lookAt(path)?.isDirectory() === true))
  const orders = starting.flatMap(found => {
    const files = ORDERS.get(found.program ?? '') ?? []
    const names = ['.', ...folders].flatMap(folder => files.map(name => `${folder}/${name}`))
    return from(found, names)
  })
  return {
    orders: [...new Set(orders)],
    named: [...named].filter(path => !folders.has(path)),
    isOpen:
      line.startsUnknown ||
      // The value names what starts: `BASH_ENV=s.sh bash -c ls`, `PATH=.:$PATH s.sh`.
      (line.level === 'dangerous' && line.effects.includes('changes-environment')) ||
      starting.some(({ argv, cwds }) => cwds === null || argv.some(({ text }) => text === null)),
  }
}

/** Every word may be a path, also behind `=` and a letter (`-f`), or be a module (`python3 -m a.b`, `node a`). */
function namesIn({ argv, program }: FoundCommand): string[] {
  const words = argv.flatMap(({ text }) => (text === null || text === program ? [] : [text]))
  const values = words.flatMap(word => [word, word.slice(word.indexOf('=') + 1), word.replace(/^-\w/, '')])
  const names = [...new Set(values)].flatMap(word => {
    const module = word.replaceAll('.', '/')
    return [word, `${module}.py`, `${module}/__main__.py`, `${word}.js`, `${word}.rb`, `${word}/index.js`]
  })
  const paths = program?.includes('/') ? [program, ...names] : names
  // Longer texts are code.
  return paths.filter(name => name.length < 1000 && !/^-|[\0\n]/.test(name))
}

function realOf(path: string): string[] {
  try {
    return [realPathOf(path)]
  } catch {
    // A loop of links, or too long for a path: nothing that could be started.
    return []
  }
}
