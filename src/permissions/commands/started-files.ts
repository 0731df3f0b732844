import { absolutePath, lookAt, realPathOf } from '../../core/real-path.ts'
import type { EffectName } from '../effect-names.ts'
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
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name): [string, string[]] => [name, ['package.json']]),
])

/** Commands that run code which their words or their input name. */
const STARTING: readonly EffectName[] = ['runs-code', 'package-scripts', 'containers', 'database']

/** A yes to `./deploy.sh`, `bash s.sh` or `make deploy` is one to what these files say now. Real paths. */
export interface StartedFiles {
  /** What runners take their orders from. */
  readonly orders: readonly string[]
  /** What words and redirects name: programs, arguments of interpreters, input. They need not exist yet. */
  readonly named: readonly string[]
  /** A word is only known when the line runs, so other files may be started too. */
  readonly isOpen: boolean
}

export function startedFiles({ commands, access }: CommandAnalysis): StartedFiles {
  const starting = commands.filter(({ effects }) => effects.some(effect => STARTING.includes(effect)))
  const inputs = access.flatMap(item => (item.kind === 'file_read' ? [item.path] : []))
  const files = (names: (found: FoundCommand) => string[]): string[] => [
    ...new Set(
      starting.flatMap(found =>
        (found.cwds ?? []).flatMap(cwd => names(found).map(name => realPathOf(absolutePath(name, cwd)))),
      ),
    ),
  ]
  const named = [...files(namesIn), ...(starting.length === 0 ? [] : inputs.map(realPathOf))]
  return {
    orders: files(found => ordersOf(found, ['.', ...named.filter(isFolder)])),
    named: [...new Set(named)].filter(path => !isFolder(path)),
    isOpen: starting.some(({ argv, cwds }) => cwds === null || argv.some(({ text }) => text === null)),
  }
}

function ordersOf({ program }: FoundCommand, folders: readonly string[]): string[] {
  return folders.flatMap(folder => (ORDERS.get(program ?? '') ?? []).map(name => `${folder}/${name}`))
}

/** Every word may be a path, also behind `=` and a letter (`-f`), or be a module (`python3 -m a.b`, `node a`). */
function namesIn({ argv }: FoundCommand): string[] {
  const words = argv.flatMap(({ text }, index) =>
    text === null || (index === 0 && !text.includes('/')) ? [] : [text],
  )
  const values = words.flatMap(word => [word, word.slice(word.indexOf('=') + 1), word.replace(/^-\w/, '')])
  const modules = words
    .filter(word => /^\w[\w./-]*$/.test(word))
    .flatMap(word => {
      const path = word.replaceAll('.', '/')
      return [`${path}.py`, `${path}/__main__.py`, `${word}.js`, `${word}/index.js`]
    })
  return [...values, ...modules].filter(name => name !== '' && !/^-|[\0\n]/.test(name) && name.isWellFormed())
}

function isFolder(path: string): boolean {
  return lookAt(path)?.isDirectory() === true
}
