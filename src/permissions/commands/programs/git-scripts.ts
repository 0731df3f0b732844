/** Whether git is told to run something: `rebase --exec`, `fetch --upload-pack`, `submodule foreach`, `ext::` addresses. */
export function startsProgram(subcommand: string, words: readonly string[]): boolean {
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  return (
    (COMMAND_AFTER.get(subcommand)?.test(words.join(' ')) ?? false) ||
    options.some(word => isProgramOption(subcommand, word)) ||
    words.some(word => /^[a-z][a-z0-9+.-]*::/i.test(word)) ||
    (/^(?:merge|pull|rebase)$/.test(subcommand) && hasForeignStrategy(words))
  )
}

// Git takes any beginning of a long option for the option.
const LONG = (
  'upload-pack receive-pack exec extcmd open-files-in-pager smtp-server sendmail-cmd to-cmd cc-cmd header-cmd httpd ' +
  'template config config-env setup tree-filter index-filter msg-filter env-filter parent-filter commit-filter ' +
  'tag-name-filter cmd-filter'
).split(' ')

const SHORT: ReadonlyMap<string, RegExp> = new Map([
  ['rebase', /^-\w*x/],
  ['clone', /^-\w*[uc]/],
  ['difftool', /^-\w*x/],
  ['grep', /^-\w*O/],
])

const COMMAND_AFTER: ReadonlyMap<string, RegExp> = new Map([
  ['submodule', /\bforeach\b/],
  ['bisect', /\brun\b/],
  ['hook', /\brun\b/],
])

function isProgramOption(subcommand: string, word: string): boolean {
  const name = /^--([a-z][a-z-]+)(?:=|$)/.exec(word)?.[1]
  if (name !== undefined) return LONG.some(each => each.startsWith(name))
  return SHORT.get(subcommand)?.test(word) ?? false
}

/** Any name that git does not know is a program. */
function hasForeignStrategy(words: readonly string[]): boolean {
  const given = words.join(' ').matchAll(/(?:^|\s)(?:-s|--strategy[= ])\s*(\S+)/g)
  return [...given].some(([, name = '']) => !/^(?:ort|recursive|resolve|octopus|ours|subtree)$/.test(name))
}
