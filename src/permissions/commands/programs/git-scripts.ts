/** What git is told to run: `rebase --exec`, `fetch --upload-pack`, `submodule foreach`, `ext::` addresses. */

// Git takes any beginning of a long option for the option.
const LONG = (
  'upload-pack receive-pack exec extcmd open-files-in-pager smtp-server sendmail-cmd to-cmd cc-cmd header-cmd httpd ' +
  'template config config-env setup tree-filter index-filter msg-filter env-filter parent-filter commit-filter ' +
  'tag-name-filter cmd-filter'
).split(' ')

const SHORT: Readonly<Record<string, string>> = {
  rebase: 'x',
  clone: 'uc',
  difftool: 'x',
  grep: 'O',
  'ls-remote': '',
  mergetool: '',
}

/** Subcommands whose own arguments, from this word on, are a command. */
const WITH_COMMAND: Readonly<Record<string, string>> = { submodule: 'foreach', bisect: 'run', hook: 'run' }

export interface GitScripts {
  /** Texts that are run by a shell, as far as they are in the line. */
  scripts: string[]
  /** Git starts something that the words choose. */
  runs: boolean
}

export function gitScripts(subcommand: string, words: readonly string[]): GitScripts {
  const scripts = [...optionScripts(subcommand, words), ...addressScripts(words)]
  const inner = Object.hasOwn(WITH_COMMAND, subcommand) ? WITH_COMMAND[subcommand] : undefined
  const at = inner === undefined ? -1 : words.indexOf(inner)
  if (at !== -1) scripts.push(words.slice(at + 1).join(' '))
  const strategy = subcommand === 'merge' || subcommand === 'pull' || subcommand === 'rebase'
  return { scripts, runs: scripts.length > 0 || (strategy && hasForeignStrategy(words)) }
}

function optionScripts(subcommand: string, words: readonly string[]): string[] {
  const short = Object.hasOwn(SHORT, subcommand) ? (SHORT[subcommand] ?? '') : ''
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? words.length : end).flatMap((word, i) => {
    const next = words[i + 1] ?? ''
    const [, name, value] = /^--([a-z][a-z-]+)(?:=([\s\S]*))?$/.exec(word) ?? []
    if (name !== undefined) {
      return name.length > 1 && LONG.some(each => each.startsWith(name)) ? [value ?? next] : []
    }
    if (short === '' || !/^-[A-Za-z]/.test(word)) return []
    const letter = [...word.slice(1)].findIndex(each => short.includes(each))
    return letter === -1 ? [] : [word.slice(letter + 2) || next]
  })
}

/** `ext::COMMAND` and other helpers: `x::…` starts `git-remote-x`. */
function addressScripts(words: readonly string[]): string[] {
  return words.flatMap(word => {
    const [, helper, rest = ''] = /^([a-z][a-z0-9+.-]*)::([\s\S]*)$/i.exec(word) ?? []
    return helper === undefined ? [] : [/^ext$/i.test(helper) ? rest.replaceAll('%S', ' ') : word]
  })
}

/** Any name that git does not know is a program. */
function hasForeignStrategy(words: readonly string[]): boolean {
  return words.some((word, i) => {
    const value =
      /^--strategy=(.*)$/.exec(word)?.[1] ??
      (/^(?:-s|--strategy)$/.test(words[i - 1] ?? '') ? word : undefined)
    return value !== undefined && !/^(?:ort|recursive|resolve|octopus|ours|subtree)$/.test(value)
  })
}
