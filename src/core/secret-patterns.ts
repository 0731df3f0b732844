/**
 * What secrets look like. Every pattern is linear in the length of the text, also when the text is written to make it
 * slow: repetitions are bounded, or nothing has to follow them, or they cannot start inside themselves.
 */

/** Removes the secrets of one kind. */
export type SecretRule = (text: string) => string

export function mark(kind: string): string {
  return `‹secret:${kind}›`
}

/** One cheap look decides whether any of `TOKEN_RULES` can match. */
export const TOKEN_TRIGGER =
  /sk-|[sr]k_(?:live|test)_|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|soat)-|A[KS]IA|xox[abeprs]-|xapp-|AIza|ya29\.|GOCSPX-|npm_|pypi-|hf_|whsec_|SG\.|eyJ|PRIVATE KEY/

/** Secrets that show by themselves what they are. */
export const TOKEN_RULES: readonly SecretRule[] = [
  removePrivateKeys,
  whole('anthropic_key', /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{20,}/g),
  // A digit within reach keeps `sk-` names made of words.
  whole('openai_key', /(?<![A-Za-z0-9])sk-(?=[A-Za-z0-9_-]{0,60}[0-9])[A-Za-z0-9_-]{20,}/g),
  whole('stripe_key', /(?<![A-Za-z0-9])[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/g),
  whole('github_token', /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g),
  whole('gitlab_token', /(?<![A-Za-z0-9])gl(?:pat|ptt|dt|rt|soat)-[A-Za-z0-9_.-]{16,}/g),
  whole('aws_key', /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g),
  whole('slack_token', /(?<![A-Za-z0-9])(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}/g),
  whole('google_key', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g),
  whole('google_token', /(?<![A-Za-z0-9])(?:ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{20,})/g),
  whole('npm_token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}/g),
  whole('pypi_token', /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{40,}/g),
  whole('huggingface_token', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g),
  whole('webhook_secret', /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24,}/g),
  whole('sendgrid_key', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}/g),
  // Starts only where a run of its characters starts: otherwise `eyJeyJeyJ…` would be read once from every `eyJ`.
  whole('jwt', /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g),
]

/** One cheap look decides whether any of `CONTEXT_RULES` can match. */
export const CONTEXT_TRIGGER =
  /auth|bearer|cookie|:\/\/[^\s/]{0,400}@|curl|mysql|mariadb|sshpass|redis-cli|login/i

/** Quoted, or up to the next blank. A value that starts with `$` is a variable, one that starts with ‹ is redacted. */
const SHELL_WORD = String.raw`("[^"\n]{1,500}"|'[^'\n]{1,500}'|(?![$‹"'])[^\s"';|&]+)`

/** Secrets that only their surroundings give away. */
export const CONTEXT_RULES: readonly SecretRule[] = [
  after(
    'authorization',
    /(authorization["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4}(?:bearer|basic|token|digest|apikey|negotiate)\s{1,4})((?![$‹])[^\s"'\\,;]+)/gi,
  ),
  after('authorization', /(\bbearer\s{1,4})((?=[\w.~+/=-]{0,60}[0-9])[\w.~+/=-]{16,})/gi),
  after('cookie', /(\bcookie["'\\]{0,4}\s{0,4}:\s{0,4}["'\\]{0,4})([\w.-]{1,80}=[^\r\n"'\\]+)/gi),
  // As in .docker/config.json, .npmrc and .netrc.
  after('authorization', /((?:"auth"\s{0,4}:\s{0,4}"|\b_auth\s{0,4}=\s{0,4}))([A-Za-z0-9+/=]{8,})/g),
  after('password', /(\blogin\s{1,9}\S{1,200}\s{1,9}password\s{1,9})((?![$‹])\S+)/g),
  // Up to the last @ before the path: people write passwords with an @ unescaped.
  after('url_password', /(:\/\/[^\s/:@'"<>?#‹]{0,128}:)((?![$‹])[^\s/'"<>?#‹]{1,256})(?=@)/g),
  after('url_password', /(:\/\/)((?=[\w-]{0,60}[0-9])[\w-]{20,256})(?=@)/g),
  after('password', new RegExp(String.raw`(\bsshpass\s{1,4}-p\s{0,4})${SHELL_WORD}`, 'g')),
  // `-p` means a password only to these programs, and to MySQL only when it is joined to its value.
  after(
    'password',
    new RegExp(String.raw`(\b(?:mysql\w{0,10}|mariadb[\w-]{0,10})\b[^\n|;]{0,200}?\s-p)${SHELL_WORD}`, 'g'),
  ),
  after(
    'password',
    new RegExp(
      String.raw`(\b(?:docker|podman|helm|oras|az)\s[^\n|;]{0,40}?\blogin\b[^\n|;]{0,200}?\s-p[\s=]{1,4})${SHELL_WORD}`,
      'g',
    ),
  ),
  after('password', new RegExp(String.raw`(\bredis-cli\b[^\n|;]{0,200}?\s-a\s{1,4})${SHELL_WORD}`, 'g')),
  after(
    'password',
    /(\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[\s=]{0,4}["']?[^\s:"']{1,100}:)((?![$‹])[^\s"']+)/g,
  ),
]

function whole(kind: string, pattern: RegExp): SecretRule {
  const replacement = mark(kind)
  return text => text.replace(pattern, replacement)
}

/** The first group stays, the second is the secret. */
function after(kind: string, pattern: RegExp): SecretRule {
  const replacement = `$1${mark(kind)}`
  return text => text.replace(pattern, replacement)
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** What the inside of a key is made of, also when its line ends are written as `\n`. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\:,.()-]{0,20000}/y

/** A key without its end was cut off: what looks like its inside goes. */
function removePrivateKeys(text: string): string {
  let output = ''
  let position = 0
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < position) continue
    KEY_BODY.lastIndex = begin.index + begin[0].length
    KEY_BODY.exec(text)
    let end = KEY_BODY.lastIndex
    KEY_END.lastIndex = begin.index
    const found = KEY_END.exec(text.slice(0, end + 80))
    if (found !== null && found.index <= end) end = found.index + found[0].length
    output += `${text.slice(position, begin.index)}${mark('private_key')}`
    position = end
  }
  return output + text.slice(position)
}
