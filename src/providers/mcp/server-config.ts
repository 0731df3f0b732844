import { hash } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json.ts'
import { createSecretFinder } from '../../core/known-secrets.ts'
import { SECRET_KEY } from '../../core/secret-assignments.ts'

/** One MCP server, as the configuration names it, with secrets as references. */
export interface McpServerConfig {
  readonly name: string
  /** The workspace whose files say something about it, by its hash. Without: it is the person's own, in every workspace. */
  readonly project?: string
  readonly enabled: boolean
  /** Program and arguments of a server that Kogu starts. */
  readonly command?: readonly string[]
  /** Address of a server that runs somewhere. */
  readonly url?: string
  /** Values, or where they are. */
  readonly env: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  readonly cwd?: string
  /** Globs over the server's own names. */
  readonly on: readonly string[]
  readonly off: readonly string[]
  readonly startMs: number
  /** Without a sign of life. */
  readonly timeoutMs: number
  readonly era: 'auto' | 'legacy' | 'modern'
  readonly sandbox: boolean
  /** Whether its calls may change the workspace, each in a process of its own on a layer. */
  readonly workspace: 'read-only' | 'layer'
  /** Hosts that it may contact from the sandbox. */
  readonly hosts: readonly string[]
  /** Folders that it may change from the sandbox. What it changes there is not recorded. */
  readonly write: readonly string[]
  /** The list of tools that is expected. */
  readonly pin?: string
}

/** What is decided about it is kept under this: a server of one project is no server of another, whatever its name. */
export function recordKey({ name, project }: McpServerConfig): string {
  return project === undefined ? name : `${project}/${name}`
}

/** Of everything that decides what is started or contacted, and what it can reach. Trust is bound to it. */
export function configHash(server: McpServerConfig): string {
  const { command, url, env, headers, cwd, sandbox, hosts, write } = server
  // Left out where it is what it always was: servers that were trusted before stay so.
  const onLayer = server.workspace === 'layer' ? { workspace: server.workspace } : {}
  const decisive = { command, url, env, headers, cwd, sandbox, hosts, write, ...onLayer }
  return hash('sha256', canonicalJson(decisive)).slice(0, 32)
}

/** On this machine, where no other machine can answer in its place. */
export function isLocalUrl(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(URL.parse(url)?.hostname ?? '')
}

/** What a person reads before they trust it. */
export function describeServer(server: McpServerConfig): string[] {
  const { command, url, env, headers, cwd, sandbox, hosts, write } = server
  return [
    command === undefined ? `contacts ${url}` : `runs ${command.map(word => JSON.stringify(word)).join(' ')}`,
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(Object.keys(env).length === 0 ? [] : [`with ${describeValues(env)}`]),
    ...(Object.keys(headers).length === 0 ? [] : [`sends ${describeValues(headers)}`]),
    ...(command === undefined
      ? []
      : sandbox
        ? [
            server.workspace === 'layer'
              ? 'in the sandbox: each call works on a layer, and what it changes in the workspace can be undone'
              : 'in the sandbox: the workspace is read-only',
            hosts.length === 0 ? 'it contacts nobody' : `it may contact ${hosts.join(', ')}`,
            ...(write.length === 0 ? [] : [`it may change ${write.join(', ')} without a record`]),
          ]
        : ['WITHOUT A SANDBOX: it can read, change and contact whatever you can']),
  ]
}

/**
 * The same where secrets must not be seen. What looks like one may be code (`token='…';eval(token)`), so that a server of which
 * a part is masked is trusted only where all of it is shown.
 */
export function describeWithoutSecrets(
  server: McpServerConfig,
  redact: <T>(value: T) => T,
): { readonly lines: readonly string[]; readonly isMasked: boolean } {
  const whole = describeServer(server)
  const { command } = server
  const words = command === undefined ? {} : { command: redact(command) }
  const lines = describeServer({ ...server, ...words }).map(line => redact(line))
  const isMasked = lines.some((line, index) => line !== whole[index])
  const note = `a part that looks like a secret is not shown: kogu mcp trust ${server.name} shows all of it in a terminal`
  return { lines: isMasked ? [...lines, note] : lines, isMasked }
}

/** Variables that make a program load code, or find it elsewhere. */
export const LOADS_CODE =
  /^(?:PATH|HOME|LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|BUN_\w+|PYTHON\w*|PERL\w*|RUBY\w*|GEM_\w+|LUA_\w+|PHP\w*|BASH_ENV|ENV|SHELLOPTS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_\w+|CORECLR_\w+|GCONV_PATH|OPENSSL_\w+|npm_config_\w+|GIT_(?:SSH|CONFIG|EXEC|ASKPASS|EDITOR|PAGER|EXTERNAL|PROXY|TEMPLATE)\w*)$/i

const findSecret = createSecretFinder([])

/** With their values, unless they are secrets: `NODE_OPTIONS` alone does not say what it loads. */
function describeValues(values: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(values).map(([name, value]) => {
    const mark = LOADS_CODE.test(name) ? ' (CAN LOAD CODE)' : ''
    if (typeof value !== 'string') return `${name} from ${JSON.stringify(value)}${mark}`
    // What can load code is shown whatever is in it: otherwise a token beside it would hide what it loads.
    const isSecret = SECRET_KEY.test(name) || (mark === '' && findSecret(value) !== undefined)
    return `${name}=${isSecret ? '…' : JSON.stringify(value)}${mark}`
  })
  return lines.join(', ')
}
