import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../core/names-in.ts'

/**
 * Fixed places of keys, credentials and private records. One table, two uses: reading them asks (paths.ts), and no command
 * sees them that was not approved with their name. `~/` is the home folder, `/` absolute, anything else at any depth and
 * so in the home folder, too. `*` stands for part of one name. A place is a file, or a folder with all that is in it.
 */
const PLACES: readonly (readonly [level: number, why: string, ...paths: string[]])[] = [
  [10, 'SSH keys and settings', '.ssh'],
  [10, 'private keys', '~/id_*', '/etc/ssh/*_key', '/etc/ssl/private', '/etc/krb5.keytab'],
  [
    10,
    'cloud credentials',
    '.aws',
    '.azure',
    '.gcloud',
    '.config/gcloud',
    '.oci',
    '.config/doctl',
    '.config/scw',
  ],
  [
    10,
    'cloud credentials',
    '~/.config/hcloud',
    '~/.config/heroku',
    '~/.config/.wrangler',
    '~/.wrangler',
    '~/.boto',
  ],
  [10, 'GPG keys', '.gnupg'],
  [10, 'password store', '.password-store', '~/.local/share/gopass', '~/.config/op', '~/.op', '~/.1password'],
  [
    10,
    'password store',
    '~/.config/1Password',
    '~/.config/Bitwarden',
    '~/.config/Bitwarden CLI',
    '~/.config/keepassxc',
  ],
  [10, 'password store', '~/Library/Group Containers/*1password', '~/Library/Application Support/Bitwarden*'],
  [10, 'key ring', '~/.local/share/keyrings', '~/.local/share/kwalletd', '~/Library/Keychains', '~/.pki'],
  [10, 'password hashes', '/etc/shadow*', '/etc/gshadow*'],
  [9, 'sudo rules', '/etc/sudoers', '/etc/sudoers.d'],
  [9, 'cluster credentials', '~/.kube', '.kube/config', '~/.talos', '~/.config/helm/registry'],
  [
    9,
    'GitHub and GitLab credentials',
    '.config/gh',
    '.config/hub',
    '~/.config/glab-cli',
    '~/.config/github-copilot',
  ],
  [9, 'git credentials', '~/.config/git/credentials'],
  [
    9,
    'credentials of agents',
    '~/.codex/auth.json',
    '~/.gemini/oauth_creds.json',
    '~/.local/share/opencode/auth.json',
  ],
  [
    9,
    'credentials of agents',
    '~/.claude/.credentials.json',
    '~/.claude.json',
    '~/.config/anthropic',
    '~/.config/openai',
  ],
  [
    9,
    'package registry credentials',
    '~/.cargo/credentials',
    '~/.cargo/credentials.toml',
    '~/.gem/credentials',
  ],
  [9, 'package registry credentials', '~/.local/share/gem/credentials', '~/.config/pypoetry/auth.toml'],
  [
    9,
    'package registry credentials',
    '~/.m2/settings.xml',
    '~/.m2/settings-security.xml',
    '~/.gradle/gradle.properties',
  ],
  [9, 'package registry credentials', '~/.config/composer/auth.json', '~/.composer/auth.json'],
  [
    9,
    'infrastructure credentials',
    '~/.terraform.d/credentials*',
    '~/.terraformrc',
    '~/.pulumi/credentials.json',
  ],
  [
    9,
    'infrastructure credentials',
    '~/.vault-token',
    '~/.ansible/vault*',
    '~/.fly/config.yml',
    '~/.netlify/config.json',
  ],
  [
    9,
    'storage credentials',
    '~/.config/rclone',
    '~/.s3cfg',
    '~/.config/s3cmd',
    '~/.mc/config.json',
    '~/.smbcredentials',
  ],
  [
    8,
    'registry credentials',
    '.docker/config.json',
    '~/.config/containers/auth.json',
    '~/.docker/.token_seed',
  ],
  [
    7,
    'browser data',
    '~/.mozilla',
    '~/.config/google-chrome*',
    '~/.config/chromium',
    '~/.config/BraveSoftware',
  ],
  [
    7,
    'browser data',
    '~/.config/microsoft-edge*',
    '~/.config/vivaldi',
    '~/.config/opera',
    '~/.librewolf',
    '~/.zen',
  ],
  [
    7,
    'browser data',
    '~/snap/firefox',
    '~/snap/chromium',
    '~/.var/app/org.mozilla.firefox',
    '~/.var/app/com.google.Chrome',
  ],
  [7, 'browser data', '~/.var/app/org.chromium.Chromium', '~/.var/app/com.brave.Browser', '~/.thunderbird'],
  [7, 'browser data', '~/Library/Application Support/Google/Chrome', '~/Library/Application Support/Firefox'],
  [7, 'browser data', '~/Library/Application Support/BraveSoftware', '~/Library/Safari', '~/Library/Cookies'],
  [7, 'history', '~/.local/share/fish/fish_history', '~/.histfile', '~/.history', '~/.local/share/atuin'],
]

/** For paths that are folded and have `~` in the place of the home folder; the highest level that matches. */
export function placeOf(path: string): { level: number; why: string } | undefined {
  // One look that most paths do not pass: searches ask for hundreds of thousands of them.
  if (!ANY_PLACE.test(path)) return undefined
  return PATTERNS.find(({ pattern }) => pattern.test(path))
}

const PATTERNS = PLACES.flatMap(([level, why, ...paths]) =>
  paths.map(path => ({ level, why, pattern: new RegExp(toSource(path)) })),
).sort((a, b) => b.level - a.level)

const ANY_PLACE = new RegExp(PATTERNS.map(({ pattern }) => pattern.source).join('|'))

function toSource(path: string): string {
  const source = path
    .toLowerCase()
    .replaceAll(/[.+()[\]{}^$|\\?]/g, '\\$&')
    .replaceAll('*', '[^/]*')
  return /^[~/]/.test(path) ? `^${source}(?:/|$)` : `/${source}(?:/|$)`
}

/** Those that are there and that a command of this user could read. */
export function existingPlaces(home: string): string[] {
  return CANDIDATES.flatMap(path => expand(path.startsWith('~/') ? join(home, path.slice(2)) : path)).filter(
    isReachable,
  )
}

const CANDIDATES = PLACES.flatMap(([, , ...paths]) => paths).map(path =>
  /^[~/]/.test(path) ? path : `~/${path}`,
)

function expand(path: string): string[] {
  const at = path.indexOf('*')
  if (at === -1) return [path]
  const folder = path.slice(0, path.lastIndexOf('/', at))
  const [start = '', end = ''] = path.slice(folder.length + 1).split('*')
  return namesIn(folder)
    .filter(name => name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end))
    .map(name => join(folder, name))
}

/** A folder that may only be passed through still gives out what is in it to whoever knows the names. */
function isReachable(path: string): boolean {
  // Most of them are not there, and an exception costs many times as much as a look.
  if (!existsSync(path)) return false
  return [constants.R_OK, constants.X_OK].some(mode => {
    try {
      accessSync(path, mode)
      return true
    } catch {
      // Not there, or not for this user.
      return false
    }
  })
}
