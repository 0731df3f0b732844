import { homedir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'

/** Everything Kogu takes from the process it runs in. Read once at the start and passed on as a value. */
export interface Environment {
  readonly platform: NodeJS.Platform
  /** Undefined where the system has no user ids. */
  readonly uid: number | undefined
  readonly home: string
  /** Kogu's own folders; they need not exist. */
  readonly directories: Directories
  readonly terminal: TerminalHints
  /** Of the person, as the system names it (`en_GB.UTF-8`); undefined: not said. */
  readonly locale: string | undefined
  readonly editor: string | undefined
  readonly pager: string | undefined
  readonly browser: string | undefined
  /** Folders in which programs are looked up; relative entries are left out. */
  readonly path: readonly string[]
  /** The id of the Kogu call that this process was started by. Such a process has no authority of its own. */
  readonly insideCall: string | undefined
  /** The project's folder, where `--cwd` does not say another one. */
  readonly projectRoot: string | undefined
  /** `KOGU_LIMITS__MAX_COST=0.5` → `{variable, key: 'limits.max_cost', value: '0.5'}` */
  readonly overrides: readonly EnvironmentOverride[]
  /** Values that must not appear in output or logs, the longest first. */
  readonly secrets: readonly string[]
  /** All variables, for those that may be passed on to commands. */
  readonly variables: Readonly<Record<string, string>>
}

interface Directories {
  readonly config: string
  readonly state: string
  readonly data: string
  readonly cache: string
  readonly runtime: string
  /** Where the administrator's `config.toml` and `managed.toml` are. */
  readonly system: string
}

export interface TerminalHints {
  readonly noColor: boolean
  readonly forceColor: boolean
  /** Cannot move the cursor or show colours. */
  readonly dumb: boolean
  readonly ci: boolean
}

export interface EnvironmentOverride {
  readonly variable: string
  readonly key: string
  readonly value: string
}

interface Host {
  readonly platform: NodeJS.Platform
  readonly uid: number | undefined
  /** Used where HOME says nothing usable. */
  readonly home: string
}

/** The only reader of `process.env`. */
export function readEnvironment(): Environment {
  return toEnvironment(process.env, {
    platform: process.platform,
    uid: process.getuid?.(),
    home: homedir(),
  })
}

export function toEnvironment(raw: NodeJS.ProcessEnv, host: Host): Environment {
  const variables: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(raw)) if (value !== undefined) variables[name] = value
  const home = absolute(variables.HOME) ?? host.home
  return {
    platform: host.platform,
    uid: host.uid,
    home,
    directories: toDirectories(variables, host.platform, home),
    terminal: toTerminalHints(variables),
    locale: filled(variables.LC_ALL) ?? filled(variables.LC_MESSAGES) ?? filled(variables.LANG),
    editor: filled(variables.VISUAL) ?? filled(variables.EDITOR),
    pager: filled(variables.PAGER),
    browser: filled(variables.BROWSER),
    // A relative entry would make what runs depend on the folder, which an agent may be able to write.
    path: (variables.PATH ?? '').split(delimiter).filter(isAbsolute),
    insideCall: filled(variables[CALL_MARKER]),
    projectRoot: filled(variables[PROJECT_ROOT]) ?? filled(variables.TEBIKI_PROJECT_ROOT),
    overrides: toOverrides(variables),
    secrets: toSecrets(variables),
    variables,
  }
}

/** Set in every process that a call starts. */
const CALL_MARKER = 'KOGU_CALL'

function toDirectories(
  variables: Record<string, string>,
  platform: NodeJS.Platform,
  home: string,
): Directories {
  const windows = platform === 'win32'
  const local = absolute(variables.LOCALAPPDATA) ?? join(home, 'AppData', 'Local')
  const roaming = absolute(variables.APPDATA) ?? join(home, 'AppData', 'Roaming')
  const place = (variable: string, unix: string, other: string): string =>
    join(absolute(variables[variable]) ?? (windows ? other : join(home, unix)), 'kogu')
  const state = place('XDG_STATE_HOME', '.local/state', local)
  const runtime = absolute(variables.XDG_RUNTIME_DIR)
  return {
    config: place('XDG_CONFIG_HOME', '.config', roaming),
    state,
    data: place('XDG_DATA_HOME', '.local/share', local),
    cache: place('XDG_CACHE_HOME', '.cache', local),
    runtime: runtime === undefined ? join(state, 'runtime') : join(runtime, 'kogu'),
    system: windows ? join(absolute(variables.PROGRAMDATA) ?? 'C:\\ProgramData', 'kogu') : '/etc/kogu',
  }
}

function toTerminalHints(variables: Record<string, string>): TerminalHints {
  const { FORCE_COLOR: force, CLICOLOR: wish, CLICOLOR_FORCE: wishForce } = variables
  const forceColor = (filled(force) !== undefined && force !== '0') || (filled(wishForce) ?? '0') !== '0'
  return {
    noColor: filled(variables.NO_COLOR) !== undefined || force === '0' || (wish === '0' && !forceColor),
    forceColor,
    dumb: variables.TERM === 'dumb',
    ci: !['', '0', 'false'].includes(variables.CI ?? ''),
  }
}

const PREFIX = 'KOGU_'
const PROJECT_ROOT = 'KOGU_PROJECT_ROOT'
/** For `--server`. */
const TOKEN = 'KOGU_TOKEN'

function toOverrides(variables: Record<string, string>): EnvironmentOverride[] {
  return Object.entries(variables)
    .filter(([name]) => name.startsWith(PREFIX) && ![CALL_MARKER, PROJECT_ROOT, TOKEN].includes(name))
    .map(([variable, value]) => ({
      variable,
      key: variable.slice(PREFIX.length).toLowerCase().replaceAll('__', '.'),
      value,
    }))
    .sort((a, b) => (a.variable < b.variable ? -1 : 1))
}

const SECRET_NAME =
  /(KEY|KEY_ID|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIALS?|AUTH|COOKIE|DSN|PAT)(_?\d+|_B64|_BASE64)?$/i

/** A shorter value is too likely to be part of ordinary text: redacting it would garble output and hide nothing. */
const SHORTEST_SECRET = 8

function toSecrets(variables: Record<string, string>): string[] {
  const found = new Set<string>()
  for (const [name, value] of Object.entries(variables)) {
    if (SECRET_NAME.test(name)) found.add(value.trim())
    // A connection address of any name may carry a password: postgres://user:password@host.
    const password = /^[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:([^\s/@]+)@/i.exec(value)?.[1]
    if (password !== undefined) found.add(password)
  }
  return [...found].filter(value => value.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length)
}

/** A relative folder is ignored, as the XDG specification demands: it would mean another place in every workspace. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
