import { join, sep } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { isInside } from '../../core/real-path.ts'
import { RUN_BY_TOOLS } from './run-by-tools.ts'
import { existingPlaces, placeOf, shortenHome } from './secret-places.ts'

// Names that need care. Everything here is decided on real paths (links resolved), because a link with a harmless name
// would otherwise open the file it points to.

export interface PathContext {
  readonly home: string
  readonly workspace: string
  /** Kogu's state folder of this person, for all workspaces. */
  readonly state?: string
}

export interface PathFacts {
  /** 0-10, see the two thresholds below. */
  readonly sensitivity: number
  readonly why: string
}

/** Reading asks from this level on. */
export const SENSITIVE_TO_READ = 7
/** Writing asks from this level on, whatever the mode. */
export const SENSITIVE_TO_WRITE = 4

export const isSensitive = ({ kind, facts }: { kind: string; facts: PathFacts }): boolean =>
  facts.sensitivity >= (kind === 'file_read' ? SENSITIVE_TO_READ : SENSITIVE_TO_WRITE)

type Sensitive = readonly [pattern: RegExp, level: number, why: string]

// On the folded name of the file itself.
const BY_NAME: readonly Sensitive[] = [
  [/^\.env(\..+)?$/, 8, 'environment file'],
  [/^\.renviron(\..+)?$/, 8, 'environment file'],
  [/^wallet\.dat$|\.wallet$/, 10, 'wallet'],
  [/^\.(rdata|rhistory)$/, 7, 'what a session of R held'],
  [/^\.envrc$/, 7, 'environment file'],
  [/^secrets\..+$/, 9, 'secrets'],
  // Code and text about credentials hold none. Languages in which people keep settings are not among these.
  [
    /^\.?credentials(?!(\.(test|spec|d))?\.([mc]?tsx?|go|rs|java|kts?|swift|c|cc|cpp|h|hpp|cs|scala|mdx?|rst|adoc)$)/,
    9,
    'credentials',
  ],
  [/\.secret$/, 9, 'secret'],
  [/\.(pem|key|p12|pfx|jks|keystore)$/, 9, 'key or certificate'],
  [/\.kdbx$/, 10, 'password database'],
  [/_(rsa|dsa|ecdsa|ed25519)$/, 10, 'private key'],
  [/^id_(rsa|dsa|ecdsa|ed25519)/, 10, 'private key'],
  [/^\.git-credentials$/, 9, 'git credentials'],
  [/^\.(npmrc|pypirc)$/, 7, 'package registry credentials'],
  [/^(\.netrc|_netrc|\.pgpass|\.my\.cnf|\.mylogin\.cnf|\.htpasswd)$/, 8, 'login credentials'],
  [/^docker-compose.*\.ya?ml$/, 5, 'may hold passwords'],
  [/\.(sqlite|sqlite3|db)$/, 6, 'database'],
  [/^database\.yml$/, 7, 'database settings'],
  [/^\.\w+_history$/, 7, 'history'],
  // Code that runs elsewhere: not secret, but a person looks at a change first.
  [
    /^(\.gitlab-ci\.yml|\.travis\.yml|jenkinsfile|azure-pipelines\.yml|bitbucket-pipelines\.yml)$/,
    4,
    'continuous integration',
  ],
  [/^\.gitmodules$/, 4, 'where git fetches code from'],
]

// On the whole folded path; `~` stands for the home folder. Fixed places of secrets are in secret-places.ts.
const BY_PATH: readonly Sensitive[] = [
  [/^~\/\.local\/state\/kogu\//, 8, "Kogu's own state"],
  [/^~\/\.local\/share\/kogu\//, 8, "Kogu's own state"],
  [/\/\.(github|gitea|forgejo)\/(workflows|actions)\//, 4, 'continuous integration'],
  [/\/\.(circleci|buildkite)\//, 4, 'continuous integration'],
  [RUN_BY_TOOLS, 4, 'tools run it by themselves'],
  [/^~\/\.config\//, 5, 'user settings'],
  [/^~\/\.gitconfig$/, 4, 'git settings'],
  // Not fixed places of secrets: hardly a program works without these two.
  [/^\/etc\/passwd$/, 8, 'system accounts'],
  [/^\/(proc|sys)\//, 8, 'kernel interface'],
  [/^\/dev\/([shv]d[a-z]|nvme|mmcblk|loop|dm-|mapper\/|disk\/|k?mem|port)/, 10, 'raw disk or memory'],
  [/^\/etc\/hosts$/, 5, 'host names'],
]

// One look that most paths do not pass: searches ask for hundreds of thousands of them.
const WORTH_A_LOOK =
  /\/(?:[.#]|(?:library|snap)\/|secrets\.|credentials|docker-compose|database\.yml|id_|_netrc|jenkinsfile|azure-pipe|bitbucket-pipe|wallet\.)|^\/(?:(?:etc|proc|sys|dev)\/|run\/secrets|var\/(?:run\/secrets|backups))|(?:\.(?:secret|pem|key|p12|pfx|jks|keystore|kdbx|sqlite3?|db|wallet)|_(?:rsa|dsa|ecdsa|ed25519))(?:$|[.~])/

// What editors and people append to the name of a file that they keep a copy of.
const BACKUP = /(?:~|\.~\d+~|\.(?:bak|backup|old|orig|save|copy|tmp|rej|sw[a-p]|kate-swp|\d{1,3}))+$/

/** The names to judge: of a copy (`.env~`, `#.env#`, `.server.key.swp`), also what it is a copy of. */
function namesOf(name: string): string[] {
  const original = name.replace(/^\.?#(.+?)#?$/, '$1').replace(BACKUP, '')
  return original === name ? [name] : [name, original, original.replace(/^\./, '')]
}

// Example files carry no secrets, and agents read them all day.
const HARMLESS = /^\.env\.(example|sample|template|dist|defaults?)$/

// Certificates that the system trusts are public, and keys do not lie beside them.
const PUBLIC = /^\/etc\/(ssl\/certs\/|ssl\/cert\.pem$|ca-certificates\/|pki\/(tls\/certs?[/.]|ca-trust\/))/

const SYSTEM =
  /^\/(etc|usr|bin|sbin|lib|lib32|lib64|libx32|boot|proc|sys|dev|run|system|library|var\/(lib|log|run|spool|cache))(\/|$)/i
// Where images and distributions put source code and per-user state.
const NOT_SYSTEM = /^\/(usr\/src|usr\/local\/src|run\/user|dev\/shm)\/./
const WINDOWS_SYSTEM = /^[a-z]:[\\/](windows|program files( \(x86\))?|programdata)([\\/]|$)/i

const ORDINARY: PathFacts = { sensitivity: 0, why: '' }

/** How careful to be with a path: the highest level of all that matches. */
export function analyzePath(realPath: string, context: PathContext): PathFacts {
  const folded = foldPath(realPath)
  if (!WORTH_A_LOOK.test(folded) && !RUN_BY_TOOLS.test(folded)) return ORDINARY
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  if (HARMLESS.test(name) || (name.endsWith('.pem') && PUBLIC.test(folded))) return ORDINARY
  const path = shortenHome(folded, foldPath(context.home))
  const names = namesOf(name)
  let best = ORDINARY
  for (const [pattern, level, why] of BY_NAME) {
    if (level > best.sensitivity && names.some(each => pattern.test(each))) best = { sensitivity: level, why }
  }
  // A folder that holds secrets is as sensitive as what is in it.
  for (const [pattern, level, why] of BY_PATH) {
    if (level > best.sensitivity && (pattern.test(path) || pattern.test(`${path}/`)))
      best = { sensitivity: level, why }
  }
  const place = placeOf(path) ?? placeOf(`${path.slice(0, -name.length)}${names[1] ?? name}`)
  return place === undefined || place.level <= best.sensitivity
    ? best
    : { sensitivity: place.level, why: place.why }
}

/**
 * What no command sees that was not approved with its name: the fixed places, and what lies openly in the home folder
 * under a name that is asked about. Never a folder that holds the workspace, nor files of a home that is the workspace.
 */
export function hiddenSecrets(context: PathContext): string[] {
  const { home, workspace } = context
  const open = isInside(home, workspace) ? [] : namesIn(home).map(name => join(home, name))
  const named = open.filter(path => analyzePath(path, context).sensitivity >= SENSITIVE_TO_READ)
  return [...new Set([...existingPlaces(home), ...named])].filter(path => !isInside(workspace, path))
}

// Kogu's state holds what commands printed, secrets too, and what files held before. `command_output` shows it redacted.
// What people write there by hand (settings, scripts, panels, pipelines) can be read.
const OWN_STATE =
  /\/\.kogu\/(?!(\.gitignore|config\.toml|local\.toml|schema\.json)$|(scripts|panels|pipelines)(\/|$))./

/** Whether no tool may read this, whatever rules and people say. */
export function isOwnState(realPath: string, { workspace, state }: PathContext): boolean {
  if (state !== undefined && isInside(realPath, state) && !isInside(realPath, workspace)) return true
  // Searches ask for hundreds of thousands of paths.
  if (!/\.kogu/i.test(realPath) && PLAIN.test(realPath)) return false
  // A workspace may itself lie below a folder of that name; only what is inside it counts.
  const inside = isInside(realPath, workspace)
  return OWN_STATE.test(foldPath(inside ? realPath.slice(workspace.length) : realPath))
}

export function isSystemPath(realPath: string): boolean {
  if (sep === '\\') return WINDOWS_SYSTEM.test(realPath)
  return SYSTEM.test(realPath) && !NOT_SYSTEM.test(realPath)
}

/**
 * Names are compared as a careless file system would: case and compatibility forms unified, characters that do not show
 * removed, trailing dots and spaces dropped. `.GIT`, `.gi\u200Ct` and `.git.` are all `.git` somewhere.
 */
export function foldPath(path: string): string {
  return PLAIN.test(path) ? path.toLowerCase() : foldText(path.replaceAll('\\', '/'))
}

/**
 * The one folding, for paths and for patterns of rules. Through capitals and back: `ß` and `ẞ` are `ss`, the `ς` at the
 * end of a word is `σ`, and every kind of `i` is one.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFKC')
    .split('/')
    .map(part => (/^[. ]+$/.test(part) ? part : part.replace(/(\\?[. ])+$/, '')))
    .join('/')
}

// Nothing in it that folding would change but the case of letters.
const PLAIN = /^(?:\/[\w.@+ -]*[\w@+-])+$/
