/**
 * Settings of a repository that make git run a program, or take its files or its code from elsewhere. A git command may
 * change a repository's configuration, but none of these: the next `git status` of the person would run them.
 */
const STEERS: readonly RegExp[] = [
  /^core\.(fsmonitor|hookspath|sshcommand|editor|pager|worktree|attributesfile|askpass|gitproxy|alternaterefscommand)$/,
  /^(filter|hook|pager|include|includeif|protocol|lfs|guitool|browser|man|tar)\./,
  /^diff\.(external|.+\.(command|textconv))$/,
  /^(diff|merge)tool\..+\.(cmd|path)$/,
  /^merge\..+\.driver$/,
  /^credential\.(.+\.)?helper$/,
  /^gpg\..*(program|command)$/,
  /^sequence\.editor$/,
  /^interactive\.difffilter$/,
  /^init\.templatedir$/,
  /\.(uploadpack|receivepack|packobjectshook)$/,
  /^url\..+\.(insteadof|pushinsteadof)$/,
  /^remote\..+\.vcs$/,
  /^trailer\..+\.(command|cmd)$/,
  /^sendemail\..*(cmd|smtpserver)$/,
]
/** Harmless unless the value says that it is a command line. */
const STEERS_BY_VALUE = /^(alias\..+|submodule\..+\.update)$/

/**
 * The first setting of `after` that steers git and was not the same before; null when there is none. What cannot be read
 * as git's syntax counts as such. `allowed` is asked about each: some subcommands set one that leads nowhere new.
 */
export function steeringChange(
  before: string,
  after: string,
  allowed: (key: string, value: string) => boolean = () => false,
): string | null {
  const now = readGitConfig(after)
  if (now === null) return 'a configuration that cannot be read'
  const old = readGitConfig(before) ?? new Map<string, string[]>()
  for (const [key, values] of now) {
    const steering = values.filter(value => steers(key, value) && !allowed(key, value))
    if (steering.length > 0 && JSON.stringify(old.get(key)) !== JSON.stringify(values)) return key
  }
  return null
}

function steers(key: string, value: string): boolean {
  if (STEERS_BY_VALUE.test(key)) return value.trimStart().startsWith('!')
  // A local helper of another protocol (`ext::sh -c …`) is a command line too.
  if (/^remote\..+\.(url|pushurl)$/.test(key)) return /^\w+::/.test(value)
  return STEERS.some(pattern => pattern.test(key))
}

const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]/
const VARIABLE = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=)?/

/** All values by key (`section.subsection.name`, in lower case); null when the text is not git's syntax. */
export function readGitConfig(text: string): Map<string, string[]> | null {
  const found = new Map<string, string[]>()
  let rest = text.replace(/^\uFEFF/, '')
  let section: string | undefined
  for (;;) {
    rest = rest.replace(/^(\s+|[#;][^\n]*)+/, '')
    if (rest === '') return found
    const header = SECTION.exec(rest)
    if (header !== null) {
      const [whole, name = '', subsection] = header
      section = (
        subsection === undefined ? name : `${name}.${subsection.replaceAll(/\\(.)/g, '$1')}`
      ).toLowerCase()
      rest = rest.slice(whole.length)
      continue
    }
    const variable = VARIABLE.exec(rest)
    if (variable === null || section === undefined) return null
    const [whole, name = '', equals] = variable
    const value =
      equals === undefined ? readEnd(rest.slice(whole.length)) : readValue(rest.slice(whole.length))
    if (value === null) return null
    const key = `${section}.${name.toLowerCase()}`
    found.set(key, [...(found.get(key) ?? []), value.text])
    rest = value.rest
  }
}

interface Value {
  text: string
  rest: string
}

/** A name without a value means true; only a comment may follow. */
function readEnd(text: string): Value | null {
  const end = /^[ \t\r]*([#;][^\n]*)?(\n|$)/.exec(text)
  return end === null ? null : { text: 'true', rest: text.slice(end[0].length) }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' }

function readValue(text: string): Value | null {
  let value = ''
  let quoted = false
  let index = 0
  for (; index < text.length; index += 1) {
    const character = text[index] ?? ''
    if (character === '\n') break
    if (character === '\\') {
      index += text.startsWith('\r\n', index + 1) ? 2 : 1
      const escaped = text[index] ?? ''
      if (escaped === '\n') continue
      const meant = ESCAPES[escaped]
      if (meant === undefined) return null
      value += meant
    } else if (character === '"') {
      quoted = !quoted
    } else if (!quoted && (character === '#' || character === ';')) {
      const end = text.indexOf('\n', index)
      index = end === -1 ? text.length : end
      break
    } else {
      value += character
    }
  }
  return quoted ? null : { text: value.trim(), rest: text.slice(index + 1) }
}
