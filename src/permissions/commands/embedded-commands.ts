/**
 * Shell commands inside the arguments of programs that are no shells: `sed '1e CMD'`, `awk 'system("CMD")'`,
 * `tar --checkpoint-action=exec=CMD`. They are walked like any other line, so that what is forbidden stays forbidden
 * there. Best effort: the programs ask in any case.
 */

/** Command texts that the call would run, as far as its words and its known input show them. */
export function embeddedCommands(program: string, words: string[], stdin: string | null): string[] {
  return (FINDERS.get(program)?.(words, stdin) ?? []).filter(text => text.trim() !== '').slice(0, 20)
}

type Finder = (words: string[], stdin: string | null) => string[]

const FINDERS: ReadonlyMap<string, Finder> = new Map<string, Finder>([
  ...finders('sed gsed', sedCommands),
  ...finders('awk gawk mawk nawk', words => words.flatMap(awkCommands)),
  ...finders('tar gtar bsdtar', words =>
    optionValues(
      words,
      /^(?:-I|--(?:checkpoint-action|to-command|use-compress-program|rsh-command|info-script|new-volume-script))$/,
      /^exec=/,
    ),
  ),
  ...finders('make gmake', makeCommands),
  ...finders('gdb lldb', words =>
    optionValues(words, /^(?:--?ex|--?iex|--?eval-command|--?init-eval-command|-o|-O|--one-line)$/).flatMap(
      debuggerCommand,
    ),
  ),
  ...finders('vi vim nvim ex ed view', words =>
    words.flatMap(word => matches(word, /^(?:\+|--cmd=)?:?\s*!\s*(.+)$/)),
  ),
  ...finders('sqlite3 psql mysql mariadb', words =>
    words.flatMap(word => matches(word, /(?:^|\n|;)\s*(?:\.(?:shell|system)|\\!|system)\s+(.+)/)),
  ),
  ...finders('rsync', words => optionValues(words, /^(?:-e|--rsh|--rsync-path)$/)),
  ...finders('ssh scp sftp', words =>
    words.flatMap(word =>
      matches(word, /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]\s*(.+)$/i),
    ),
  ),
  ...finders('zip', words => optionValues(words, /^(?:-TT|--unzip-command)$/)),
  ...finders('git', gitSettings),
])

function finders(names: string, finder: Finder): [string, Finder][] {
  return names.split(' ').map(name => [name, finder])
}

function matches(text: string, pattern: RegExp): string[] {
  const found = pattern.exec(text)?.[1]
  return found === undefined ? [] : [found]
}

/** Values of options, joined with `=` or as the next word. */
function optionValues(words: string[], option: RegExp, prefix = /^(?!)/): string[] {
  const values = words.flatMap((word, i) => {
    if (option.test(word)) return [words[i + 1] ?? '']
    const equals = word.indexOf('=')
    return equals > 0 && option.test(word.slice(0, equals)) ? [word.slice(equals + 1)] : []
  })
  return values.map(value => value.replace(prefix, ''))
}

function sedCommands(words: string[]): string[] {
  return words.flatMap(word => [
    ...[...word.matchAll(/(?:^|[;\n{}!\d$/\s])e\s+([^\n]+)/g)].map(match => match[1] ?? ''),
    // `s/x/CMD/e`: the result is run.
    ...[...word.matchAll(/s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gpiImM\d]*e/g)].map(
      match => (match[2] ?? '').replaceAll(/\\(.)/g, '$1'),
    ),
  ])
}

function awkCommands(program: string): string[] {
  const text = '"((?:[^"\\\\\\n]|\\\\[^\\n])*)"'
  const places = [`system\\s*\\(\\s*${text}`, `\\|&?\\s*${text}`, `${text}\\s*\\|&?\\s*getline`]
  return places
    .flatMap(place => [...program.matchAll(new RegExp(place, 'g'))])
    .map(match => (match[1] ?? '').replaceAll(/\\(.)/g, '$1'))
}

/** Recipes of a makefile that stands in the line. */
function makeCommands(words: string[], stdin: string | null): string[] {
  const fromInput = /(?:^|\s)(?:-f|--file|--makefile)[= ]?(?:-|\/dev\/stdin)(?:\s|$)/.test(words.join(' '))
  const texts = [...optionValues(words, /^(?:--eval|-E)$/), ...(fromInput && stdin !== null ? [stdin] : [])]
  return texts.flatMap(text => [
    ...[...text.matchAll(/\$\(shell\s+([^)]*)\)/g)].map(match => match[1] ?? ''),
    ...text.split('\n').flatMap(line => matches(line, /^(?:\t|[^:=\t]*:[^;=]*;)\s*[@+-]*(.+)$/)),
  ])
}

function debuggerCommand(text: string): string[] {
  return matches(text, /^\s*(?:shell|!|platform shell|pipe[^|]*\|)\s*(.+)$/)
}

/** `git config alias.x '!CMD'` and the settings whose value is a command. */
function gitSettings(words: string[]): string[] {
  const at = words.indexOf('config')
  if (at === -1) return []
  const settings = words.slice(at + 1)
  const runs =
    /^(?:alias\.|core\.(?:editor|pager|sshCommand|fsmonitor|askPass|gitProxy)$|credential\.|pager\.|sequence\.editor$|filter\.|(?:diff|merge)\.[^.]*\.(?:command|driver|textconv)$|(?:diff|merge)tool\.|gpg\.|difftool|browser\.)/i
  const key = settings.findIndex(word => runs.test(word))
  const value = settings[key + 1] ?? ''
  if (key === -1 || value === '') return []
  const isAlias = /^alias\./i.test(settings[key] ?? '')
  if (value.startsWith('!')) return [value.slice(1)]
  return isAlias ? [`git ${value}`] : [value]
}
