import { existsSync } from 'node:fs'
import type { HostRefusal } from '../../core/command.ts'
import type { SandboxDenial, SandboxProfile } from '../../core/sandbox.ts'

/** What is known of a program that failed. */
export interface FailedRun {
  exitCode: number | null
  signal: string | null
  limit: 'memory' | 'processes' | null
  stderr: string
  /** `host:port` of those that the proxy did not let it contact. */
  refusedHosts?: ReadonlyMap<string, HostRefusal>
}

/**
 * Which wall a failed program ran into, from what it said itself: a best guess, for people and models to read. Null
 * when nothing points to the sandbox.
 */
export function explainDenial(run: FailedRun, profile: SandboxProfile): SandboxDenial | null {
  const lines = run.stderr.split('\n').slice(-200)
  return fromLimit(run, profile) ?? fromRefusedHost(run) ?? fromLines(lines, profile)
}

/**
 * The host that the proxy refused, such as one that another host redirects to. Known for certain, whatever the program
 * made of it: many take the refusal for an answer and succeed.
 */
export function fromRefusedHost({
  refusedHosts = new Map(),
}: Pick<FailedRun, 'refusedHosts'>): SandboxDenial | null {
  const all = [...refusedHosts]
  const found = all.find(([, refusal]) => refusal.canBeAllowed) ?? all[0]
  if (found === undefined) return null
  const [address, { reason, canBeAllowed }] = found
  const host = address.replace(/:\d+$/, '')
  return {
    kind: 'network',
    target: host,
    message: `${address} was not contacted: ${reason}.${canBeAllowed ? ` ${howToAllow(host)}` : ''}`,
    allowedBy: canBeAllowed ? { kind: 'network', url: `https://${address}/` } : null,
  }
}

function howToAllow(host: string): string {
  return `An allow rule with host = "${host}", or [sandbox] network = ["${host}"], opens it for approved commands.`
}

function fromLines(lines: readonly string[], profile: SandboxProfile): SandboxDenial | null {
  for (const line of lines) {
    const denial =
      fromReadOnly(line, profile) ??
      fromHidden(line, profile) ??
      fromRename(line, profile) ??
      fromNetwork(line, profile) ??
      fromSocket(line)
    if (denial !== null) return denial
  }
  return null
}

function fromReadOnly(line: string, profile: SandboxProfile): SandboxDenial | null {
  if (!/Read-only file system|EROFS/.test(line)) return null
  const path = pathIn(line, profile.cwd)
  const where = path ?? 'a place outside the folders it may change'
  if (path !== null && profile.protected.some(entry => isAtOrBeneath(path, entry))) {
    return {
      kind: 'write',
      target: path,
      message: `The sandbox kept the command from changing ${path}, which is protected.`,
      allowedBy: null,
    }
  }
  return {
    kind: 'write',
    target: path,
    message: `The sandbox kept the command from writing to ${where}.`,
    allowedBy: path === null ? { kind: 'file_write', path: '…' } : { kind: 'file_write', path },
  }
}

function fromHidden(line: string, profile: SandboxProfile): SandboxDenial | null {
  const isMissing = /No such file or directory|ENOENT/.test(line)
  if (!isMissing && !/Permission denied|EACCES/.test(line)) return null
  const path = pathIn(line, profile.cwd)
  if (path === null || !profile.hidden.some(entry => isAtOrBeneath(path, entry))) return null
  // Hidden in the home, or not there at all.
  if (isMissing && !existsSync(path)) return null
  return {
    kind: 'read',
    target: path,
    message: `The sandbox kept the command from reading ${path}.`,
    allowedBy: { kind: 'file_read', path },
  }
}

/**
 * A layer does not rename folders that lie beneath it: the kernel keeps the marks for that in attributes that only root may
 * write. mv copies then; `git mv` and those who call rename(2) themselves give up.
 */
function fromRename(line: string, { cwd }: SandboxProfile): SandboxDenial | null {
  if (!/Invalid cross-device link|EXDEV/.test(line)) return null
  const [, from, to] = /'([^']+)' -> '([^']+)'/.exec(line) ?? /renaming '([^']+)' failed/.exec(line) ?? []
  const paths = [from, to].filter(path => path !== undefined).map(path => absolute(path, cwd))
  const inTmp = paths.filter(path => isAtOrBeneath(path, '/tmp'))
  const target = paths[0] ?? null
  if (inTmp.length === 1 && paths.length === 2) {
    const message = 'In the sandbox, /tmp is another file system than the workspace. Use mv, which copies.'
    return { kind: 'rename', target, message, allowedBy: null }
  }
  const what = target === null ? 'A whole folder' : `The folder ${target}`
  const how = line.includes('fatal: renaming')
    ? 'Instead of git mv A B: mv A B && git add -A A B'
    : 'Use mv, which copies, or copy it and delete the original.'
  const message = `${what} cannot be renamed in one step by a command whose changes are kept on a layer. ${how}`
  return { kind: 'rename', target, message, allowedBy: null }
}

/** The way in which common programs say that they got no network; the host, where they name it. */
const NETWORK_WORDS = [
  /Could not resolve host: ([^\s;]+)/,
  /getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([^\s:]+)/,
  /(?:unable to resolve|failed to resolve|Could not resolve)[^'"]*['"]([^'"]+)['"]/i,
  /Failed to connect to ([^\s]+) port \d+/,
  /Could not resolve hostname ([^\s:]+)/,
  /connect(?:ing)? to (?:address )?\[?([0-9a-f.:]+)\]?.*Network is unreachable/i,
  /(?:\bEAI_AGAIN\b|\bENOTFOUND\b|Network is unreachable|ENETUNREACH|Temporary failure in name resolution|Name or service not known)/,
]

function fromNetwork(line: string, { network }: SandboxProfile): SandboxDenial | null {
  const match = NETWORK_WORDS.map(words => words.exec(line)).find(found => found !== null)
  if (match === undefined || match === null) return null
  const host = match[1] ?? null
  if (network !== 'none') {
    return {
      kind: 'network',
      target: host,
      message:
        'Network access goes only through the proxy in HTTPS_PROXY, and the program did not use it. Programs without proxy support, such as ssh, have no network.',
      allowedBy: null,
    }
  }
  return {
    kind: 'network',
    target: host,
    message:
      host === null
        ? 'The sandbox has no network.'
        : `The sandbox has no network, so ${host} could not be reached. ${howToAllow(host)}`,
    allowedBy: { kind: 'network', url: host === null ? '…' : `https://${host}/` },
  }
}

function fromSocket(line: string): SandboxDenial | null {
  if (
    !/Cannot connect to the Docker daemon|(?:socket|dbus|D-Bus).*Permission denied|PermissionError.*socket/i.test(
      line,
    )
  ) {
    return null
  }
  return {
    kind: 'socket',
    target: null,
    message: 'The sandbox does not let commands use Unix sockets: they lead to daemons of this machine.',
    allowedBy: { kind: 'custom', name: 'unix_sockets', details: 'create and connect Unix sockets' },
  }
}

function fromLimit(run: FailedRun, profile: SandboxProfile): SandboxDenial | null {
  const { limits } = profile
  const denial = (target: string, message: string): SandboxDenial => ({
    kind: 'limit',
    target,
    message,
    allowedBy: null,
  })
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MB`
  if (run.limit === 'processes' || /fork: (?:retry: )?Resource temporarily unavailable/.test(run.stderr)) {
    return denial('processes', `The command may run ${limits.processes} processes and threads at a time.`)
  }
  if (run.limit === 'memory' || /Cannot allocate memory|MemoryError|out of memory|ENOMEM/i.test(run.stderr)) {
    return denial('memory', `The command may use ${megabytes(limits.memoryBytes)} of memory.`)
  }
  if (run.signal === 'SIGXCPU' || run.exitCode === 128 + 24) {
    return denial('cpu', `A process of the command may use ${limits.cpuSeconds} seconds of processor time.`)
  }
  if (
    run.signal === 'SIGXFSZ' ||
    run.exitCode === 128 + 25 ||
    /File size limit exceeded|File too large/.test(run.stderr)
  ) {
    return denial('file size', `The command may write files of up to ${megabytes(limits.fileBytes)}.`)
  }
  return null
}

/** The path that a line of error names: in quotes, or as the word before the last colon. */
function pathIn(line: string, cwd: string): string | null {
  const quoted = /['"‘`]([^'"’`]+)['"’`]/.exec(line)?.[1]
  const beforeColon = /(?:^|[\s:])([^\s:]+):\s*(?:Read-only|Permission|No such|cannot)/.exec(line)?.[1]
  const found = quoted ?? beforeColon
  if (found === undefined) return null
  return absolute(found, cwd)
}

function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : `${cwd.replace(/\/$/, '')}/${path.replace(/^\.\//, '')}`
}

function isAtOrBeneath(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
