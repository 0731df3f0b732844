import type { Word } from 'unbash'

// What common programs do with an argument. No list of this kind is whole: what a program that is not in it does is judged
// with each call, from the line that the values make.

/** Programs that run their arguments, or read code from them: a value there would be a command. */
const RUNS_ITS_ARGUMENTS = new Set(
  (
    'xargs ssh su sudo doas env nice nohup setsid timeout time watch parallel busybox stdbuf ionice taskset unshare nsenter ' +
    'bwrap chroot flock script setpriv runuser pkexec strace ltrace entr systemd-run tmux screen xvfb-run fakeroot proot firejail'
  ).split(' '),
)
/** Words of the shell that make a command, a variable or a number of their arguments; all three can run code. */
const SHELL_WORDS = new Set(
  (
    '. source eval exec command builtin trap alias bind compgen complete coproc declare typeset local export readonly enable ' +
    'fc getopts hash history jobs let mapfile readarray read set shopt unset wait'
  ).split(' '),
)
/** Programs that run their first operand; what follows are arguments of it. */
const RUNS_ITS_FIRST = new Set('npx bunx pnpx uvx'.split(' '))
/** The same after these words. */
const RUNS_AFTER: Readonly<Record<string, RegExp>> = {
  bun: /^x$/,
  bundle: /^exec$/,
  conda: /^run$/,
  go: /^run$/,
  npm: /^(?:exec|x)$/,
  pipenv: /^run$/,
  pipx: /^run$/,
  pnpm: /^(?:exec|dlx)$/,
  poetry: /^run$/,
  uv: /^run$/,
  yarn: /^(?:exec|dlx)$/,
}
/** After the name of a container or an image. */
const CONTAINERS = /^(?:(?:docker|podman)(?:-compose)?|nerdctl|kubectl)$/
/** Of their options only these have no value in the next word. */
const CONTAINER_FLAG =
  /^-[diqtPT]+$|^-[diqtPT]*[^-diqtPT].|=|^--(?:build|detach|init|interactive|no-deps|no-TTY|privileged|publish-all|quiet|read-only|rm|stdin|tty)?$/
const SHELL = /^(?:.*\/)?(?:ba|rba|da|a|z|k|mk|fi|c|tc|pw)?sh[\d.]*$/
/** Interpreters whose next argument is code after one of these flags. */
const INTERPRETERS =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|Rscript|julia|elixir|expect|emacs|[gmn]?awk|sed|jq|osascript)$/
const CODE_FLAG = /^-[A-Za-z]*[cepr]$|^--(?:eval|print|expression|execute|source|import)$/
/** Those that read a program from their input when they are given no file. */
const INPUT_INTERPRETER = /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|Rscript|julia|tclsh)$/
/** Options whose value is a program, or settings that name one. */
const RUNNING_OPTIONS: Readonly<Record<string, RegExp>> = {
  docker: /^--entrypoint$/,
  ex: /^(?:-c|--cmd)$/,
  find: /^-(?:exec|ok)(?:dir)?$/,
  fd: /^(?:-x|-X|--exec|--exec-batch)$/,
  gdb: /^-{1,2}(?:i?ex|eval-command)$/,
  git: /^--(?:exec-path|config-env|upload-pack|receive-pack|exec|extcmd|open-files-in-pager|[a-z-]+-filter)$/,
  gmake: /^--eval$/,
  make: /^--eval$/,
  man: /^(?:-P|--pager)$/,
  npm: /^--call$/,
  npx: /^--call$/,
  nvim: /^(?:-c|--cmd)$/,
  podman: /^--entrypoint$/,
  rg: /^--pre$/,
  rsync: /^(?:-\w*e|--rsh|--rsync-path)$/,
  sort: /^--compress-program$/,
  split: /^--filter$/,
  tar: /^(?:-I|-F|--use-compress-program|--to-command|--checkpoint-action|--info-script|--rsh-command)$/,
  view: /^(?:-c|--cmd)$/,
  vi: /^(?:-c|--cmd)$/,
  vim: /^(?:-c|--cmd)$/,
  zip: /^(?:-TT|--unzip-command)$/,
}

/** Whether its arguments are a command. */
export function isWrapper(program: string): boolean {
  return RUNS_ITS_ARGUMENTS.has(program) || RUNS_ITS_FIRST.has(program)
}

/** Whether it starts what its arguments name, `source f` and `nohup ./f` alike. */
export function runsArguments(program: string): boolean {
  return RUNS_ITS_ARGUMENTS.has(program) || SHELL_WORDS.has(program)
}

/** Whether it runs the file behind `-f`. */
export function readsFileOption(program: string): boolean {
  return /^(?:g?make|[gmn]?awk|sed)$/.test(program)
}

export function isShell(word: string): boolean {
  return SHELL.test(word)
}

/** Whether it runs what comes in when it is given no file. */
export function readsProgram(word: string): boolean {
  return isShell(word) || INPUT_INTERPRETER.test(baseName(word))
}

export function baseName(path: string): string {
  return path.split('/').at(-1) ?? ''
}

/** Whether the word is a command, or goes to a shell: of `docker run image sh -c {x}` too. */
export function isRun(program: string, words: readonly Word[], index: number, option: string): boolean {
  if (RUNS_ITS_ARGUMENTS.has(program) || SHELL_WORDS.has(program) || isShell(program)) return true
  if (lookUp(RUNNING_OPTIONS, program)?.test(option) === true) return true
  // Of the shell's own, `-v` takes the name of a variable, and an index in it is run.
  if (/^(?:printf|test|\[)$/.test(program) && words.some(({ value }) => value === '-v')) return true
  const isPackage = (at: number): boolean => /^(?:-p|--package|--from)$/.test(words[at]?.value ?? '')
  const operands = words.flatMap(({ value }, at) => (value.startsWith('-') || isPackage(at - 1) ? [] : [at]))
  const [first = -1, second] = operands
  if (RUNS_ITS_FIRST.has(program)) return first === index
  const verb = words[first]?.value ?? ''
  if (lookUp(RUNS_AFTER, program)?.test(verb) === true && second === index) return true
  if (CONTAINERS.test(program) && isRunInContainer(words, index)) return true
  if (program === 'git' && isRunByGit(words, index, option)) return true
  const shell = words.slice(0, index).findLastIndex(({ value }) => isShell(value))
  return shell !== -1 && (shell === index - 1 || /^-\w*c$/.test(option))
}

/** `docker compose exec -u root web {x}`, but not `docker exec web ls {x}`. */
function isRunInContainer(words: readonly Word[], index: number): boolean {
  const at = (place: number): string => words[place]?.value ?? ''
  const isValue = (place: number): boolean => /^-/.test(at(place)) && !CONTAINER_FLAG.test(at(place))
  const operands = words.flatMap(({ value }, place) =>
    /^-|^(?:compose|container)$/.test(value) || isValue(place - 1) ? [] : [place],
  )
  return /^(?:exec|run)$/.test(at(operands[0] ?? -1)) && operands[2] === index
}

/** `git -c core.pager={x} log`, but not `git switch -c {x}`; `git rebase -x {x}`, but not `git cherry-pick -x {x}`. */
function isRunByGit(words: readonly Word[], index: number, option: string): boolean {
  const isValue = (at: number): boolean => /^-[cC]$/.test(words[at - 1]?.value ?? '')
  const before = words.slice(0, index).map(({ value }) => value)
  if (option === '-c') return before.every((value, at) => value.startsWith('-') || isValue(at))
  const verb = before.find((value, at) => !value.startsWith('-') && !isValue(at)) ?? ''
  return (
    (/^(?:rebase|difftool)$/.test(verb) && option === '-x') ||
    (verb === 'grep' && option === '-O') ||
    (verb === 'bisect' && before.includes('run')) ||
    (verb === 'submodule' && before.includes('foreach'))
  )
}

/** Whether an interpreter reads the word as code. */
export function isCode(program: string, words: readonly Word[], index: number, option: string): boolean {
  if (!INTERPRETERS.test(program)) return false
  if (/^[gmn]?awk$/.test(program) && /^-[vF]$/.test(option)) return false
  if (CODE_FLAG.test(option) || (program === 'perl' && /^-[mM]$/.test(option))) return true
  if (/^(?:deno|bun)$/.test(program)) return words.slice(0, index).some(({ value }) => value === 'eval')
  return /^(?:[gmn]?awk|sed|jq)$/.test(program) && programOperand(words) === index
}

/** The first operand of awk, sed and jq is a program. */
function programOperand(words: readonly Word[]): number {
  const at = (index: number): string => words[index]?.value ?? ''
  return words.findIndex(
    ({ value }, index) =>
      !value.startsWith('-') &&
      !/^(?:-[vFl]|--(?:assign|field-separator|line-length|indent))$/.test(at(index - 1)) &&
      ![at(index - 1), at(index - 2)].some(word => /^--(?:arg|argjson|slurpfile|rawfile)$/.test(word)),
  )
}

function lookUp(table: Readonly<Record<string, RegExp>>, program: string): RegExp | undefined {
  return Object.hasOwn(table, program) ? table[program] : undefined
}
