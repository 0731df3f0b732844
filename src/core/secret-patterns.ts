import { BARE, cover, type Mask } from './secret-mask.ts'

/**
 * What secrets look like. Every pattern is linear in the length of the text, also when the text is written to make it
 * slow: repetitions are bounded, or nothing has to follow them, or they cannot start inside themselves.
 */

/** Masks the secrets of one kind. */
export type SecretRule = (text: string, mask: Mask) => string

/** What tokens of further vendors begin with. */
const VENDORS = String.raw`dop_v1_|shp(?:at|ss|ca|pa)_|lin_api_|ntn_|sq0(?:atp|csp|idp)-|pscale_(?:tkn|pw|oauth)_|dp\.[a-z]{2}\.|glsa_|hv[sb]\.|ATATT3|sntry[su]_|sbp_|nfp_|PMAK-|rubygems_|dckr_pat_|gsk_|xai-|pplx-|r8_|nvapi-|tskey-[a-z]{2,10}-|figd_|AGE-SECRET-KEY-1`

/** One cheap look decides whether any of `TOKEN_RULES` can match. */
export const TOKEN_TRIGGER = new RegExp(
  String.raw`sk-|[sr]k_(?:live|test)_|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|soat|cbt|ft|ffct|imt|agent)-|A[KS]IA|xox[abeprs]-|xapp-|AIza|ya29\.|GOCSPX-|npm_|pypi-|hf_|whsec_|SG\.|eyJ|PRIVATE KEY|hooks\.slack|/webhooks/|${VENDORS}`,
)

/** Secrets that show by themselves what they are. */
export const TOKEN_RULES: readonly SecretRule[] = [
  maskPrivateKeys,
  rule('anthropic_key', /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{20,}/g),
  // A digit within reach keeps `sk-` names made of words.
  rule('openai_key', /(?<![A-Za-z0-9])sk-(?=[A-Za-z0-9_-]{0,60}[0-9])[A-Za-z0-9_-]{20,}/g),
  rule('stripe_key', /(?<![A-Za-z0-9])[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/g),
  rule('github_token', /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g),
  rule('gitlab_token', /(?<![A-Za-z0-9])gl(?:pat|ptt|dt|rt|soat|cbt|ft|ffct|imt|agent)-[A-Za-z0-9_.-]{16,}/g),
  rule('aws_key', /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g),
  rule('slack_token', /(?<![A-Za-z0-9])(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}/g),
  rule('google_key', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g),
  rule('google_token', /(?<![A-Za-z0-9])(?:ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{20,})/g),
  rule('npm_token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}/g),
  rule('pypi_token', /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{40,}/g),
  rule('huggingface_token', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g),
  rule('webhook_secret', /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24,}/g),
  rule('sendgrid_key', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}/g),
  rule('vendor_token', new RegExp(`(?<![A-Za-z0-9])(?:${VENDORS})(?=[\\w-]{0,60}[0-9])[\\w-]{20,}`, 'g')),
  rule('webhook_secret', /(\bhooks\.slack\.com\/services\/|\/api\/webhooks\/\d{5,25}\/)([\w/-]{20,})/g),
  // Starts only where a run of its characters starts: otherwise `eyJeyJeyJ…` would be read once from every `eyJ`.
  rule('jwt', /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g),
]

/** One cheap look decides whether any of `CONTEXT_RULES` can match. */
export const CONTEXT_TRIGGER =
  /auth|bearer|cookie|:\/\/[^\s/]{0,400}@|curl|mysql|mariadb|sshpass|redis-cli|login/i

/** Up to the next command. */
const ARGUMENTS = '[^\\n|;&`()]'

/** Secrets that only their surroundings give away. */
export const CONTEXT_RULES: readonly SecretRule[] = [
  rule(
    'authorization',
    /(authorization["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4}(?:bearer|basic|token|digest|apikey|negotiate)\s{1,4})((?![$‹])[^\s"'\\,;]+)/gi,
  ),
  rule('authorization', /(\bbearer\s{1,4})((?=[\w.~+/=-]{0,60}[0-9])[\w.~+/=-]{16,})/gi),
  maskCookies,
  // As in .docker/config.json, .npmrc and .netrc.
  rule('authorization', /((?:"auth"\s{0,4}:\s{0,4}"|\b_auth\s{0,4}=\s{0,4}))([A-Za-z0-9+/=]{8,})/g),
  rule('password', /(\blogin\s{1,9}\S{1,200}\s{1,9}password\s{1,9})((?![$‹])\S+)/g),
  // Up to the last @ before the path: people write passwords with an @ unescaped.
  rule('url_password', /(:\/\/[^\s/:@'"<>?#‹]{0,128}:)((?![$‹])[^\s/'"<>?#‹]{1,256})(?=@)/g),
  rule('url_password', /(:\/\/)((?=[\w-]{0,60}[0-9])[\w-]{20,256})(?=@)/g),
  passwordAfter(String.raw`\bsshpass\s{1,4}-p\s{0,4}`),
  // `-p` means a password only to these programs, and to MySQL only when it is joined to its value.
  passwordAfter(String.raw`\b(?:mysql\w{0,10}|mariadb[\w-]{0,10})\b${ARGUMENTS}{0,200}?\s-p`),
  passwordAfter(
    String.raw`\b(?:docker|podman|helm|oras|az)\s${ARGUMENTS}{0,40}?\blogin\b${ARGUMENTS}{0,200}?\s-p[\s=]{1,4}`,
  ),
  passwordAfter(String.raw`\bredis-cli\b${ARGUMENTS}{0,200}?\s-a\s{1,4}`),
  rule(
    'password',
    /(\bcurl\b[^\n|;`()]{0,300}?\s(?:-u|--user)[\s=]{0,4}["']?[^\s:"']{1,100}:)((?![$‹])[^\s"']+)/g,
  ),
]

/** The whole match is the secret; of a pattern with groups the first stays and the second is. */
function rule(kind: string, pattern: RegExp): SecretRule {
  return (text, mask) =>
    cover(text, pattern, mask, ({ index, 0: all, 1: kept = '', 2: secret = all }) => {
      const start = index + kept.length
      const isValue = mask.isWhole || kept === '' || isItsValue(text, start, kept)
      return isValue ? { kind, start, end: start + secret.length } : undefined
    })
}

const SCHEME = /(.?)(?:bearer|basic|token|digest|apikey|negotiate)[ \t]+$/i

/**
 * Whether a value belongs to what stands before it, and no shell takes it for a program: the next line is another command,
 * and so is what follows `auth=bearer`. Behind `bearer` alone, a path may be one (`env -u bearer bin/run`).
 */
function isItsValue(text: string, start: number, kept: string): boolean {
  // As .netrc is written.
  if (/[\r\n]/.test(kept) && !/password[ \t]+$/.test(kept)) return false
  const scheme = SCHEME.exec(kept)
  const [value = ''] = /^[^\s"']*["']?/.exec(text.slice(start, start + 4096)) ?? []
  if (scheme === null || /["']$/.test(value)) return true
  if (/[:=]/.test(scheme[1] || text.charAt(start - kept.length - 1))) return false
  return /authorization/i.test(kept) || !value.includes('/')
}

/** The next word of a command line: quoted, or up to the next blank, but no variable, and nothing that is redacted. */
function passwordAfter(words: string): SecretRule {
  const word = String.raw`((?<=")[^"\n]{1,500}(?=")|(?<=')[^'\n]{1,500}(?=')|(?<!["'])(?![$‹"'])[^\s"';|&]+)`
  return rule('password', new RegExp(`(${words}["']?)${word}`, 'g'))
}

const COOKIE_NAME = String.raw`(\bcookie["'\\]{0,4}\s{0,4}:\s{0,4}["'\\]{0,4}[\w.-]{1,80}=)`
const COOKIES = rule('cookie', new RegExp(String.raw`${COOKIE_NAME}([^\r\n"'\\]+)`, 'gi'))
const FIRST_COOKIE = rule('cookie', new RegExp(`${COOKIE_NAME}(${BARE}+)`, 'gi'))
/** After a `;` there may also be a command, so that only what looks like a session is another cookie. */
const FURTHER_COOKIE = rule(
  'cookie',
  /(;[ \t]?[\w.-]{1,80}=)((?=[\w%+~-]{0,80}[0-9])[\w%+~-]{16,})(?![\w/.(]|[ \t]+[^\s;])(?<=\bcookie["'\\]{0,4}\s{0,4}:[^\r\n]{1,2000})/gi,
)

function maskCookies(text: string, mask: Mask): string {
  return mask.isWhole ? COOKIES(text, mask) : FURTHER_COOKIE(FIRST_COOKIE(text, mask), mask)
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** What the inside of a key is made of, also when its line ends are written as `\n`. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\:,.()-]{0,20000}/y
/** A line of it, behind the sign of a diff and what a key may say of itself. Shorter words may be code, but the last one. */
const KEY_BREAK = String.raw`(?:\s|\\{1,8}[nr]|(?<=\n)[+-])`
const KEY_LINE = new RegExp(
  String.raw`(${KEY_BREAK}*(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{0,200}${KEY_BREAK}+)*)` +
    // A long one is taken in pieces: the engine has no room for all of it.
    `((?:[A-Za-z0-9+/=]{4096}|[A-Za-z0-9+/=]{40,4096}|[A-Za-z0-9/=][A-Za-z0-9+/=]{0,38}` +
    String.raw`(?=${KEY_BREAK}*(?:=[\w+/]{4}${KEY_BREAK}+)?-----END))(?:(?<=[A-Za-z0-9+/=]{4096})|(?=-----END|[\s\\"'\x60]|$)))`,
  'y',
)

function maskPrivateKeys(text: string, mask: Mask): string {
  const kind = 'private_key'
  if (mask.isWhole)
    return cover(text, KEY_BEGIN, mask, begin => ({ kind, start: begin.index, end: keyEnd(text, begin) }))
  let output = ''
  let position = 0
  KEY_BEGIN.lastIndex = 0
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < position) continue
    KEY_LINE.lastIndex = begin.index + begin[0].length
    output += text.slice(position, KEY_LINE.lastIndex)
    position = KEY_LINE.lastIndex
    for (let line = KEY_LINE.exec(text); line !== null; line = KEY_LINE.exec(text)) {
      output += (line[1] ?? '') + mask.mark(kind, line[2] ?? '')
      position += line[0].length
    }
  }
  return output + text.slice(position)
}

/** A key without its end was cut off: what looks like its inside goes. */
function keyEnd(text: string, begin: RegExpExecArray): number {
  KEY_BODY.lastIndex = begin.index + begin[0].length
  KEY_BODY.exec(text)
  const end = KEY_BODY.lastIndex
  KEY_END.lastIndex = begin.index
  const found = KEY_END.exec(text.slice(0, end + 80))
  return found !== null && found.index <= end ? found.index + found[0].length : end
}
