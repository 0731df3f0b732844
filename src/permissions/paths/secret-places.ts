import { accessSync, constants, existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { isInside } from '../../core/real-path.ts'
import { compileText } from '../../core/wildcard.ts'

/**
 * Fixed places of keys, credentials and private records. One table, two uses: reading them asks (paths.ts), and no command
 * sees them that was not approved with their name. `~/` is a home folder, `/` absolute, anything else at any depth and so
 * in home folders, too. `*` stands for part of one name. A place is a file, or a folder with all that is in it.
 */
const TABLE: readonly (readonly [level: number, why: string, places: string])[] = [
  [10, 'SSH keys and settings', '.ssh'],
  [10, 'private keys', '~/id_*, /etc/ssh/*_key, /etc/ssl/private, /etc/krb5.keytab, /etc/wireguard'],
  [10, 'cloud credentials', '.aws, .azure, .gcloud, .config/gcloud, .oci, .config/doctl, .config/scw'],
  [10, 'cloud credentials', '~/.config/hcloud, ~/.config/heroku, ~/.config/.wrangler, ~/.wrangler, ~/.boto'],
  [10, 'GPG keys', '.gnupg'],
  [10, 'password store', '.password-store, ~/.local/share/gopass, ~/.config/op, ~/.op, ~/.1password'],
  [10, 'password store', '~/.config/1Password, ~/.config/Bitwarden, ~/.config/Bitwarden CLI'],
  [10, 'password store', '~/.config/keepassxc, ~/Library/Group Containers/*1password'],
  [10, 'password store', '~/Library/Application Support/Bitwarden*'],
  [10, 'key ring', '~/.local/share/keyrings, ~/.local/share/kwalletd, ~/Library/Keychains, ~/.pki'],
  [10, 'wallet', '~/.bitcoin, ~/.litecoin, ~/.dogecoin, ~/.zcash, ~/.dashcore, ~/.monero, ~/.bitmonero'],
  [10, 'wallet', '~/.ethereum, ~/.electrum, ~/.electrum-ltc, ~/.walletwasabi, ~/.sparrow, ~/.armory'],
  [10, 'wallet', '~/.multibit, ~/.exodus, ~/.config/solana, ~/.config/Exodus, ~/.config/atomic'],
  [10, 'wallet', '~/.config/Ledger Live, ~/.foundry/keystores, ~/.brownie/accounts, ~/.sui, ~/.aptos'],
  [10, 'wallet', '~/.near-credentials, ~/.cardano, ~/Library/Application Support/Bitcoin'],
  [10, 'wallet', '~/Library/Application Support/Exodus, ~/Library/Ethereum'],
  [10, 'password hashes', '/etc/shadow*, /etc/gshadow*'],
  [9, 'back-ups of the system, with its password hashes', '/var/backups'],
  [9, 'secrets of a container', '/run/secrets, /var/run/secrets'],
  [9, 'sudo rules', '/etc/sudoers, /etc/sudoers.d'],
  [9, 'cluster credentials', '~/.kube, .kube/config, ~/.talos, ~/.config/helm/registry'],
  [9, 'GitHub and GitLab credentials', '.config/gh, .config/hub, ~/.config/glab-cli'],
  [9, 'GitHub and GitLab credentials', '~/.config/github-copilot'],
  [9, 'git credentials', '~/.config/git/credentials'],
  [9, 'credentials of agents', '~/.codex/auth.json, ~/.gemini/oauth_creds.json'],
  [9, 'credentials of agents', '~/.local/share/opencode/auth.json, ~/.claude/.credentials.json'],
  [9, 'credentials of agents', '~/.claude.json, ~/.config/anthropic, ~/.config/openai'],
  [9, 'package registry credentials', '~/.cargo/credentials, ~/.cargo/credentials.toml, ~/.gem/credentials'],
  [9, 'package registry credentials', '~/.local/share/gem/credentials, ~/.config/pypoetry/auth.toml'],
  [9, 'package registry credentials', '~/.local/share/uv/credentials, ~/.config/pnpm/auth.ini'],
  [9, 'package registry credentials', '~/.m2/settings.xml, ~/.m2/settings-security.xml'],
  [9, 'package registry credentials', '~/.gradle/gradle.properties, ~/.config/composer/auth.json'],
  [9, 'package registry credentials', '~/.composer/auth.json'],
  [9, 'infrastructure credentials', '~/.terraform.d/credentials*, ~/.terraformrc'],
  [9, 'infrastructure credentials', '~/.pulumi/credentials.json, ~/.vault-token, ~/.ansible/vault*'],
  [9, 'infrastructure credentials', '~/.fly/config.yml, ~/.netlify/config.json'],
  [9, 'storage credentials', '~/.config/rclone, ~/.s3cfg, ~/.config/s3cmd, ~/.mc/config.json'],
  [9, 'storage credentials', '~/.smbcredentials, ~/.davfs2, ~/.config/borg, ~/.config/restic'],
  [10, 'private keys', '~/.config/sops, ~/.config/age, ~/.age, ~/.putty'],
  [9, 'cloud credentials', '~/.config/stripe, ~/.config/ngrok, ~/.ngrok2, ~/.config/netlify, ~/.cloudflared'],
  [9, 'cloud credentials', '~/.local/share/com.vercel.cli, ~/.config/configstore, ~/.supabase, ~/.railway'],
  [
    9,
    'cloud credentials',
    '~/.databrickscfg, ~/.snowflake, ~/.snowsql, ~/.dbt/profiles.yml, ~/.ibmcloud, ~/.aliyun',
  ],
  [9, 'cluster credentials', '~/.config/argocd, ~/.rancher, ~/.local/share/containers/auth.json'],
  [
    9,
    'credentials of models',
    '~/.huggingface/token, ~/.cache/huggingface/token, ~/.kaggle, ~/.config/kaggle',
  ],
  [
    9,
    'login credentials',
    '~/.pg_service.conf, ~/.local/share/DBeaverData, ~/.vnc/passwd, ~/.local/share/remmina',
  ],
  [9, 'login credentials', '~/.msmtprc, ~/.mutt, ~/.muttrc, ~/.fetchmailrc, ~/.offlineimaprc, ~/.mbsyncrc'],
  [9, 'login credentials', '~/.config/filezilla, ~/.purple, ~/.config/weechat/sec.conf, ~/.config/tea'],
  [7, 'messages', '~/.config/Signal, ~/.config/Slack, ~/.config/discord, ~/.local/share/TelegramDesktop'],
  [8, 'registry credentials', '.docker/config.json, ~/.config/containers/auth.json, ~/.docker/.token_seed'],
  [7, 'browser data', '~/.mozilla, ~/.config/google-chrome*, ~/.config/chromium, ~/.config/BraveSoftware'],
  [7, 'browser data', '~/.config/microsoft-edge*, ~/.config/vivaldi, ~/.config/opera, ~/.librewolf, ~/.zen'],
  [7, 'browser data', '~/snap/firefox, ~/snap/chromium, ~/.var/app/org.mozilla.firefox'],
  [7, 'browser data', '~/.var/app/com.google.Chrome, ~/.var/app/org.chromium.Chromium'],
  [7, 'browser data', '~/.var/app/com.brave.Browser, ~/.thunderbird, ~/Library/Safari, ~/Library/Cookies'],
  [7, 'browser data', '~/Library/Application Support/Google/Chrome, ~/Library/Application Support/Firefox'],
  [7, 'browser data', '~/Library/Application Support/BraveSoftware'],
  [7, 'history', '~/.local/share/fish/fish_history, ~/.histfile, ~/.history, ~/.local/share/atuin'],
  [7, 'history', '~/.viminfo, ~/.lesshst'],
]
const PLACES = TABLE.flatMap(([level, why, list]) => list.split(', ').map(path => ({ level, why, path })))

/** For paths that are folded and have `~` in the place of the home folder; the highest level that matches. */
export function placeOf(path: string): { level: number; why: string } | undefined {
  // One look that most paths do not pass: searches ask for hundreds of thousands of them.
  if (!ANY_PLACE.test(path)) return undefined
  return PATTERNS.find(({ pattern }) => pattern.test(path))
}

const PATTERNS = PLACES.map(place => ({ ...place, pattern: new RegExp(toSource(place.path)) })).sort(
  (a, b) => b.level - a.level,
)

const ANY_PLACE = new RegExp(PATTERNS.map(({ pattern }) => pattern.source).join('|'))

function toSource(path: string): string {
  const source = path
    .toLowerCase()
    .replaceAll(/[.+()[\]{}^$|\\?]/g, '\\$&')
    .replaceAll('*', '[^/]*')
  return /^[~/]/.test(path) ? `^${source}(?:/|$)` : `/${source}(?:/|$)`
}

/** Those that are there and that a command of this user could read, in the person's home and in those of others. */
export function existingPlaces(home: string): string[] {
  const others = ['/root', ...HOMES.flatMap(folder => namesIn(folder).map(name => join(folder, name)))]
  const homes = [home, ...others.filter(other => other !== home && isReachable(other))]
  return PLACES.flatMap(({ path }) => {
    if (path.startsWith('/')) return expand(path)
    return homes.flatMap(each => expand(join(each, path.replace(/^~\//, ''))))
  }).filter(isReachable)
}

const HOMES = ['/home', '/Users', '/var/home']

/** On a folded path: with `~` in the place of the home folder, the person's or that of somebody else. */
export function shortenHome(path: string, home: string): string {
  if (isInside(path, home) && home !== '/') return `~${path.slice(home.length)}`
  return path.replace(/^(\/var)?\/(home|users)\/[^/]+(?=\/|$)|^\/root(?=\/|$)/, '~')
}

function expand(path: string): string[] {
  if (!path.includes('*')) return [path]
  const folder = dirname(path)
  return namesIn(folder)
    .filter(compileText(basename(path)))
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
