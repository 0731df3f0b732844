/**
 * Settings that a command may change in a repository: those that git's own commands write, and everyday ones that only
 * say how something is shown, named or joined. Hundreds of others make git, or a tool beside it, run a program or take
 * files and code from elsewhere (`core.fsmonitor`, `alias.*`, `filter.*`, `gc.recentObjectsHook`, …), and new ones come
 * with every release: what is not listed is for a person. In lower case, as git compares them.
 */
const HARMLESS: readonly RegExp[] = [
  /^core\.(bare|filemode|symlinks|ignorecase|precomposeunicode|logallrefupdates|repositoryformatversion)$/,
  /^core\.(autocrlf|eol|safecrlf|quotepath|abbrev|whitespace|untrackedcache|preloadindex|commitgraph|longpaths)$/,
  /^core\.(sparsecheckout|sparsecheckoutcone|compression|bigfilethreshold)$/,
  /^extensions\.(worktreeconfig|objectformat|refstorage|partialclone|relativeworktrees|noop)$/,
  /^(user|author|committer)\.(name|email)$/,
  /^user\.(signingkey|useconfigonly)$/,
  /^(commit|tag)\.gpgsign$/,
  /^commit\.(verbose|status|cleanup)$/,
  /^remote\..+\.(fetch|push|tagopt|mirror|prune|prunetags|promisor|partialclonefilter|followremotehead|gh-resolved)$/,
  /^remote\..+\.(skipdefaultupdate|skipfetchall)$/,
  /^branch\..+\.(merge|rebase|description|vscode-merge-base|gh-merge-base)$/,
  /^branch\.(autosetupmerge|autosetuprebase|sort)$/,
  /^submodule\..+\.(active|branch|ignore|shallow|fetchrecursesubmodules)$/,
  /^submodule\.(active|recurse|fetchjobs)$/,
  /^(color|column|advice)\../,
  /^init\.defaultbranch$/,
  /^pull\.(rebase|ff)$/,
  /^push\.(default|autosetupremote|followtags|recursesubmodules|useforceifincludes)$/,
  /^fetch\.(all|prune|prunetags|parallel|recursesubmodules|writecommitgraph)$/,
  /^merge\.(ff|conflictstyle|renames|renamelimit|stat|log|autostash|directoryrenames)$/,
  /^rebase\.(autosquash|autostash|updaterefs|stat|missingcommitscheck|rebasemerges|forkpoint)$/,
  /^diff\.(algorithm|renames|renamelimit|context|colormoved|colormovedws|mnemonicprefix|noprefix|submodule)$/,
  /^(log\.(date|decorate|abbrevcommit|follow)|status\.[a-z]+|tag\.sort|rerere\.(enabled|autoupdate))$/,
  /^(gc\.auto|maintenance\.auto|index\.(sparse|version|threads)|checkout\.(guess|workers)|feature\.manyfiles)$/,
  /^(http\.(postbuffer|version)|lfs\.repositoryformatversion)$/,
]
// Names of remotes and addresses: git takes the one where it expects the other.
const ADDRESS =
  /^(remote\..+\.(url|pushurl)|submodule\..+\.url|branch\..+\.(remote|pushremote)|remote\.pushdefault)$/

/**
 * The first setting of `after` that is for a person to set and was not the same before; null when there is none. What
 * cannot be read as git's syntax counts as such. `allowed` is asked about each: some subcommands set one that leads
 * nowhere new. A setting may go: git then does what it does without it.
 */
export function settingForPerson(
  before: string,
  after: string,
  allowed: (key: string, value: string) => boolean = () => false,
): string | null {
  const now = readGitConfig(after)
  if (now === null) return 'a configuration that cannot be read'
  const old = readGitConfig(before) ?? new Map<string, string[]>()
  for (const [key, values] of now) {
    if (values.every(value => isHarmless(key, value) || allowed(key, value))) continue
    if (JSON.stringify(old.get(key)) !== JSON.stringify(values)) return key
  }
  return null
}

/** A setting that neither runs a program nor leads git to other files. */
export function isHarmless(key: string, value: string): boolean {
  if (ADDRESS.test(key)) return isPlainAddress(value)
  // Git's own monitor, or none; anything else is a program.
  if (key === 'core.fsmonitor') return /^(true|false|yes|no|on|off|[01]|)$/i.test(value)
  // `!command` is a value, too.
  if (/^submodule\..+\.update$/.test(key)) return /^(checkout|rebase|merge|none)$/.test(value)
  return HARMLESS.some(pattern => pattern.test(key))
}

/**
 * An address that git contacts by itself, or a path: a repository in the workspace has no hooks but a person's. What
 * names another helper (`ext::sh -c …`, `x://…`) starts it, and a host that begins like an option was one for ssh.
 */
function isPlainAddress(value: string): boolean {
  if (/^[a-z][a-z0-9+.-]*::/i.test(value)) return false
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1]
  if (scheme !== undefined && !/^(https?|ssh|git|git\+ssh|ssh\+git|ftps?|file)$/.test(scheme)) return false
  const host = value.replace(/^[a-z+]+:\/\//, '').replace(/^[^/]*@/, '')
  return !value.startsWith('-') && !host.startsWith('-')
}

const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]/
const VARIABLE = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=)?/

/** All values by key (`section.subsection.name`, in lower case); null when the text is not git's syntax. */
export function readGitConfig(text: string): Map<string, string[]> | null {
  // Git ends a value there, and would read another one than we do.
  if (text.includes('\0')) return null
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
