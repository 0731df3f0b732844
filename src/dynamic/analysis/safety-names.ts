import type { SafetyKind } from './kinds.ts'
import type { Severity } from './safety.ts'

// Which names mean what. Paths are as Bindings.pathOf gives them: aliases, `globalThis` and computed names are resolved.

interface NameRule {
  readonly paths: RegExp
  readonly type: SafetyKind
  readonly severity: Severity
}

/** Found where they are called. */
export const CALLED: readonly NameRule[] = [
  {
    paths:
      /^((fs\.|fsPromises\.|fs\.promises\.)(rm|rmdir|unlink|rmSync|rmdirSync|unlinkSync)|rmSync|rmdirSync|unlinkSync|Deno\.remove(Sync)?)$/,
    type: 'file-system-delete',
    severity: 'critical',
  },
  {
    paths: /^(fs\.|fsPromises\.|fs\.promises\.)?mkdir(Sync)?$/,
    type: 'file-system-write',
    severity: 'medium',
  },
  {
    paths:
      /^((fs\.|fsPromises\.|fs\.promises\.)(writeFile|appendFile|copyFile|rename|chmod|symlink|truncate|createWriteStream|write)(Sync)?|writeFileSync|appendFileSync|Deno\.write\w*|Bun\.write)$/,
    type: 'file-system-write',
    severity: 'high',
  },
  {
    paths:
      /^((child_process|cp|childProcess)\.\w+|exec|execSync|execFile|execFileSync|spawn|spawnSync|Bun\.spawn(Sync)?|Deno\.(Command|run))$/,
    type: 'process-spawn',
    severity: 'critical',
  },
  {
    paths: /^vm\.(runIn\w+|Script|compileFunction|SourceTextModule)$/,
    type: 'eval-usage',
    severity: 'critical',
  },
  {
    paths:
      /^(fetch|https?\.(request|get)|http2\.connect|net\.(connect|createConnection|Socket)|axios(\.\w+)?|superagent(\.\w+)?|node-fetch|got(\.\w+)?|WebSocket|EventSource|XMLHttpRequest|io|navigator\.sendBeacon)$/,
    type: 'network-access',
    severity: 'high',
  },
]

/** Found wherever they are named, called or not. */
export const REFERENCED: readonly NameRule[] = [
  { paths: /^(eval|Function|AsyncFunction|GeneratorFunction)$/, type: 'eval-usage', severity: 'critical' },
  { paths: /^WebAssembly$/, type: 'eval-usage', severity: 'high' },
  {
    paths: /^process\.(binding|dlopen|mainModule|getBuiltinModule)/,
    type: 'process-spawn',
    severity: 'critical',
  },
  { paths: /^process\.env($|\.)/, type: 'environment-access', severity: 'medium' },
  {
    paths: /^(process|process\..*|global|globalThis|module|Deno|Bun)$/,
    type: 'environment-access',
    severity: 'high',
  },
  { paths: /^(__dirname|__filename)$/, type: 'environment-access', severity: 'medium' },
  { paths: /^(SharedArrayBuffer|Atomics)$/, type: 'resource-exhaustion', severity: 'medium' },
]

/** What a module could do; any other module is access to the environment. */
export const MODULES: ReadonlyMap<string, SafetyKind> = new Map(
  Object.entries({
    child_process: 'process-spawn',
    cluster: 'process-spawn',
    worker_threads: 'process-spawn',
    vm: 'eval-usage',
    module: 'eval-usage',
    fs: 'file-system-write',
    http: 'network-access',
    https: 'network-access',
    http2: 'network-access',
    net: 'network-access',
    dgram: 'network-access',
    tls: 'network-access',
    axios: 'network-access',
    superagent: 'network-access',
    'node-fetch': 'network-access',
    'socket.io': 'network-access',
    'socket.io-client': 'network-access',
  } as const),
)

interface ToolKind {
  readonly type: SafetyKind
  readonly severity: Severity
}

const TOOLS: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries({
    run_command: { type: 'process-spawn', severity: 'high' },
    delete_file: { type: 'file-system-delete', severity: 'high' },
    write_file: { type: 'file-system-write', severity: 'high' },
    edit_file: { type: 'file-system-write', severity: 'high' },
    move_file: { type: 'file-system-write', severity: 'high' },
    web_fetch: { type: 'network-access', severity: 'high' },
  } as const),
)

const READING =
  /^(read_file|read|list_directory|ls|glob_search|glob|grep_search|grep|list_dynamic_tools|tool_reflection)$/i

/** What calling a tool from code means. Of one that is not known here (`Bash` is another name of run_command) the worst. */
export function toolKind(name: string): ToolKind | undefined {
  if (READING.test(name)) return undefined
  return TOOLS.get(name) ?? { type: 'process-spawn', severity: 'high' }
}
