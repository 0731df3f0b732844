import { resolve } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { lookAt } from '../../core/real-path.ts'
import { baseName, entriesFor } from './args.ts'
import { namesProgram } from './embedded-commands.ts'
import { realOf, spellings, withFurther } from './further-files.ts'
import type { CommandAnalysis, FoundCommand } from './types.ts'

/** Where programs find what they are told to run by name, in their folder and in those that they are given. */
const ORDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['make', ['GNUmakefile', 'makefile', 'Makefile']],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['rake', ['Rakefile', 'rakefile']],
  ['task', ['Taskfile.yml', 'Taskfile.yaml']],
  ['cargo', ['Cargo.toml', 'build.rs', '.cargo/config.toml']],
  ...entriesFor('docker docker-compose podman', [
    ...['Dockerfile', 'Containerfile', 'compose.yaml', 'compose.yml', 'docker-compose.yml'],
  ]),
  ...entriesFor('gradle gradlew', ['build.gradle', 'build.gradle.kts']),
  ...entriesFor('mvn mvnw', ['pom.xml']),
  ...entriesFor('npm pnpm yarn bun', ['package.json', '.npmrc']),
])

/** Commands that run code which their words or their input name. */
const STARTING = /^(?:runs-code|package-scripts|containers|database|remote-shell)$/

function isStarting(found: FoundCommand): boolean {
  const { program, effects } = found
  if (effects.some(effect => STARTING.test(effect)) || namesProgram(found)) return true
  // `npm publish`, `./gradlew publish`. The words of a push are names of branches.
  return effects.includes('publishes') && program !== 'git'
}

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
  const starting = commands.filter(isStarting)
  const inputs = access.flatMap(item => (item.kind === 'file_read' ? [item.path] : []))
  const exported = commands.filter(({ program }) => program === 'export').flatMap(namesOf)
  const all = starting.flatMap(found =>
    (found.cwds ?? []).map(cwd => {
      const paths = [...namesOf(found), ...inputs, ...exported].flatMap(name => realOf(resolve(cwd, name)))
      const folders = paths.filter(path => lookAt(path)?.isDirectory() === true)
      const named = paths.filter(path => !folders.includes(path))
      return { named: withFurther(named, [cwd]), orders: ordersOf(found, [cwd, ...folders], named) }
    }),
  )
  return {
    orders: [...new Set(all.flatMap(each => each.orders))],
    named: [...new Set(all.flatMap(each => each.named))],
    isOpen:
      line.startsUnknown ||
      // The value names what starts: `BASH_ENV=s.sh bash -c ls`, `PATH=.:$PATH s.sh`.
      (line.level === 'dangerous' && line.effects.includes('changes-environment')) ||
      starting.some(
        ({ argv, cwds }) => cwds === null || argv.some(({ text, raw }) => text === null && raw !== '{}'),
      ),
  }
}

/** Of a runner that is not known, and to which no word names a file (`tox`): all that lies where it starts. */
function ordersOf(
  { program, effects, argv }: FoundCommand,
  folders: readonly string[],
  named: readonly string[],
): string[] {
  const known = ORDERS.get(baseName(program ?? ''))
  if (known !== undefined)
    return withFurther(
      folders.flatMap(folder => known.flatMap(file => realOf(`${folder}/${file}`))),
      folders,
    )
  const has = (names: RegExp): boolean => effects.some(effect => names.test(effect))
  const isDeployment = has(/^containers$/) && has(/^sends-data$/)
  if (!(has(/^(?:runs-code|package-scripts|publishes)$/) || isDeployment)) return []
  if (named.some(path => lookAt(path)?.isFile() === true)) return []
  // `pip install x` runs nothing of this folder, `pip install .` does.
  const isInstall = argv.some(({ text }) => /^(?:add|i|install|update|upgrade)$/.test(text ?? ''))
  return folders
    .slice(has(/^package-scripts$/) && isInstall ? 1 : 0)
    .flatMap(folder => namesIn(folder).map(file => `${folder}/${file}`))
    .filter(path => lookAt(path)?.isFile() === true && !/\.(?:md|rst|adoc|log|lock)$/.test(path))
}

/** Every word may be a path, also behind `=`, `@` and letters (`-kf`), or be a module (`python3 -m a.b`, `node a`). */
function namesOf({ argv, program }: FoundCommand): string[] {
  const words = argv.flatMap(({ text }) => (text === null || text === program ? [] : [text]))
  const values = words.flatMap(word => [
    ...[word, word.slice(word.indexOf('=') + 1), word.replace(/^@/, '')],
    ...(/^-\w/.test(word) ? [2, 3, 4].map(letters => word.slice(letters)) : []),
  ])
  const names = [...new Set(values)].flatMap(spellings)
  const local = /^(?:npx|pnpx|bunx)$/.test(program ?? '')
    ? words.map(word => `node_modules/.bin/${word}`)
    : []
  const paths = [...(program?.includes('/') ? [program] : []), ...names, ...local]
  // Longer texts are code.
  return paths.filter(name => name.length < 1000 && !/^-|[\0\n]/.test(name))
}
