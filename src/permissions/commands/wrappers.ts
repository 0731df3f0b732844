/**
 * Programs that start the command in their arguments, or run arguments or input as shell code. What is inside is judged as
 * if it stood alone, so that nothing hides behind `sudo env nice xargs`; the wrapper's own level is added.
 */
import type { EffectName } from '../effect-names.ts'
import { type Arg, seen } from './args.ts'
import type { Level } from './types.ts'

export interface Wrapped {
  level: Level
  text: string
  effects: EffectName[]
  /** The command inside, or null when there is none. */
  inner: Arg[] | null
  /** Shell code that it runs. */
  scripts: string[]
  /** The inner command gets more arguments from standard input. */
  appendsStdin?: string | null
  /** `{}` or another word that is replaced. */
  placeholder?: string
  /** The folder in which it runs. */
  directory?: string
}

interface Shape {
  level: Level
  text: string
  effects?: EffectName[]
  /** Options that take the next word. */
  values?: RegExp
  /** Operands before the command (`timeout 5`, `chroot DIR`). */
  operands?: number
  assignments?: boolean
  /** Its words are no command: this of them, or of its input, is code. */
  code?: (words: string[], stdin: string | null) => string[]
}

const AS_ANOTHER: Shape = { level: 'dangerous', text: 'runs as another user', effects: ['privilege'] }
const LEAVES: Shape = { level: 'caution', text: 'leaves a process running', effects: ['background'] }
const SCHEDULES: Shape = {
  level: 'dangerous',
  text: 'schedules commands',
  effects: ['system-change', 'background'],
  code: (_, stdin) => (stdin === null ? [] : [stdin]),
}

const SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries<Shape>({
    sudo: {
      ...AS_ANOTHER,
      values: /^-(?:[ugUphCrtTDRa]|-user|-group|-chdir|-host|-prompt)$/,
      assignments: true,
    },
    doas: { ...AS_ANOTHER, values: /^-[uC]$/ },
    pkexec: { ...AS_ANOTHER, values: /^--user$/ },
    env: {
      level: 'caution',
      text: 'runs with other variables',
      effects: ['changes-environment'],
      values: /^-(?:[uCP]|-unset|-chdir)$/,
      assignments: true,
    },
    nice: { level: 'unknown', text: 'lowers the priority', values: /^-(?:n|-adjustment)$/ },
    timeout: {
      level: 'unknown',
      text: 'limits the time',
      values: /^-(?:[sk]|-signal|-kill-after)$/,
      operands: 1,
    },
    nohup: LEAVES,
    setsid: LEAVES,
    time: { level: 'caution', text: 'measures time', values: /^-[fo]$/ },
    command: { level: 'unknown', text: 'runs the program of that name' },
    builtin: { level: 'caution', text: 'runs a command of the shell' },
    exec: { level: 'unknown', text: 'replaces the shell', effects: ['changes-environment'], values: /^-a$/ },
    watch: { level: 'caution', text: 'repeats a command', values: /^-(?:n|-interval)$/ },
    chroot: { level: 'dangerous', text: 'changes the root folder', effects: ['privilege'], operands: 1 },
    busybox: { level: 'caution', text: 'runs a program of busybox' },
    parallel: {
      level: 'unknown',
      text: 'runs a command for every line of input',
      effects: ['runs-code'],
      values: /^-[jnNLIadCS]$/,
    },
    xargs: {
      level: 'caution',
      text: 'runs a command for its input',
      effects: ['runs-code'],
      values: /^-(?:[aEdInLPs]|-(?:arg-file|delimiter|max-args|max-lines|max-procs|max-chars|replace))$/,
    },
    su: { ...AS_ANOTHER, code: suCode },
    runuser: { ...AS_ANOTHER, code: suCode },
    at: SCHEDULES,
    batch: SCHEDULES,
    eval: {
      level: 'unknown',
      text: 'runs text as a command',
      effects: ['runs-code', 'changes-environment'],
      code: words => [words.join(' ')],
    },
    trap: {
      level: 'unknown',
      text: 'schedules a command',
      effects: ['changes-environment'],
      code: words => words.slice(0, 1),
    },
    alias: {
      level: 'unknown',
      text: 'gives a command another name',
      effects: ['changes-environment'],
      code: words => words.map(word => word.replace(/^[^=]*=/, '')),
    },
  }),
)

export function isWrapper(program: string): boolean {
  return isShell(program) || SHAPES.has(program)
}

export function unwrap(program: string, args: Arg[], stdin: string | null): Wrapped | null {
  if (isShell(program)) return unwrapShell(args, stdin)
  if (program === 'source' || program === '.') return unwrapSource(args, stdin)
  const shape = SHAPES.get(program)
  return shape === undefined ? null : unwrapShape(program, shape, args, stdin)
}

function unwrapShape(program: string, shape: Shape, args: Arg[], stdin: string | null): Wrapped {
  const { level, text, effects = [], code } = shape
  if (code !== undefined) return { level, text, effects, inner: null, scripts: code(args.map(seen), stdin) }
  const at = innerStart(shape, args)
  const before = args.slice(0, at)
  const rest = args.slice(at)
  const inner = rest.length > 0 ? rest : null
  const wrapped: Wrapped = { level, text, effects, inner, scripts: embedded(program, before, rest) }
  const chdir = program === 'env' ? before.findIndex(arg => /^(?:-C|--chdir)$/.test(seen(arg))) : -1
  const named = before.map(arg => /^--chdir=(.+)$/.exec(seen(arg))?.[1]).find(value => value !== undefined)
  if (chdir !== -1 || named !== undefined) wrapped.directory = named ?? seen(before[chdir + 1])
  if (program === 'xargs' || program === 'parallel') {
    wrapped.appendsStdin = stdin
    const replace = before.findIndex(arg => /^(?:-I|-i|--replace)/.test(seen(arg)))
    if (replace !== -1)
      wrapped.placeholder =
        seen(before[replace]).replace(/^(?:-[Ii]|--replace=?)/, '') || seen(before[replace + 1]) || '{}'
    else if (program === 'parallel') wrapped.placeholder = '{}'
  }
  return wrapped
}

/** Where the inner command begins. */
function innerStart(shape: Shape, args: Arg[]): number {
  let operands = shape.operands ?? 0
  let i = 0
  for (; i < args.length; i++) {
    const word = seen(args[i])
    if (word === '--') return i + 1 + operands
    if (word.startsWith('-') && word.length > 1) {
      if (shape.values?.test(word)) i += 1
      continue
    }
    if (shape.assignments && /^[A-Za-z_]\w*=/.test(word)) continue
    if (operands === 0) break
    operands -= 1
  }
  return i
}

/** Command texts inside options: `env -S 'rm x'`, `watch 'rm x'`. */
function embedded(program: string, before: Arg[], inner: Arg[]): string[] {
  const all = [...before, ...inner].map(seen)
  if (program === 'env') {
    for (const [i, word] of all.entries()) {
      const attached = /^(?:-\w*S|--split-string=)([\s\S]+)$/.exec(word)?.[1]
      if (attached !== undefined) return [[attached, ...all.slice(i + 1)].join(' ')]
      if (/^-\w*S$|^--split-string$/.test(word)) return [all.slice(i + 1).join(' ')]
    }
  }
  return program === 'watch' || program === 'parallel' ? [inner.map(seen).join(' ')] : []
}

const SHELLS = /^(?:ba|da|z|k|a|mk|c|tc|fi|rba)?sh$|^(?:pwsh|powershell)$/

export function isShell(program: string): boolean {
  return SHELLS.test(program)
}

/** Letters of a shell with `o` among them, as in `-euo pipefail` and `-co errexit CODE`; not `-Command` and `-NoLogo`. */
const BEFORE_VALUE =
  /^(?:[-+][a-cefhiklmnprstuvxBCDEHPT]*[oO][a-cefhiklmnprstuvxBCDEHPT]*|--(?:rcfile|init-file))$/

function unwrapShell(args: Arg[], stdin: string | null): Wrapped {
  const words = args.map(seen)
  const isValue = (i: number): boolean => BEFORE_VALUE.test(words[i - 1] ?? '')
  const at = words.findIndex(
    word => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word) || word === '--command' || /^-Command$/i.test(word),
  )
  if (at !== -1) {
    let code = at + 1
    while (/^[-+][a-zA-Z]|^--$/.test(words[code] ?? '') || (code < words.length && isValue(code))) code += 1
    // `bash -c 'rm -rf "$@"' x /`: the words after the code are its parameters.
    return runs('text as a shell script', withParameters(words[code] ?? '', words.slice(code + 1)))
  }
  const isOption = (i: number): boolean => /^[-+]/.test(words[i] ?? '')
  const script = args.find((_, i) => !isOption(i) && !isValue(i))
  if (script?.content !== undefined) return runs('the output of a command', script.content)
  const fromInput = script === undefined || words.includes('-s') || isInput(seen(script))
  if (!fromInput) return runs('a shell script')
  if (stdin !== null) return runs('its input as a shell script', stdin)
  return { ...runs('whatever arrives on its input'), level: 'dangerous' }
}

function runs(what: string, ...scripts: string[]): Wrapped {
  return { level: 'unknown', text: `runs ${what}`, effects: ['runs-code'], inner: null, scripts }
}

/** Puts parameters where the code names them, for the scan only. */
function withParameters(code: string, parameters: string[]): string {
  if (parameters.length === 0 || !/\$[@*\d{]/.test(code)) return code
  const quoted = parameters.map(text => `'${text.replaceAll("'", "'\\''")}'`)
  return code
    .replace(/"?\$\{?[@*]\}?"?/g, () => quoted.slice(1).join(' '))
    .replace(
      /"?\$(?:\{(\d+)\}|(\d))"?/g,
      (_, braced?: string, digit?: string) => quoted[Number(braced ?? digit)] ?? '',
    )
}

function suCode(words: string[]): string[] {
  const at = words.findIndex(word => /^-\w*c$|^--command$/.test(word))
  if (at !== -1) return [words[at + 1] ?? '']
  return words.flatMap(word => /^--command=([\s\S]*)$/.exec(word)?.[1] ?? []).slice(0, 1)
}

function isInput(path: string): boolean {
  return /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(path)
}

function unwrapSource(args: Arg[], stdin: string | null): Wrapped | null {
  const script = args[seen(args[0]) === '--' ? 1 : 0]
  const text = script?.content ?? (isInput(seen(script)) ? stdin : null)
  if (text === null) return null
  return { ...runs('code inside the shell', text), effects: ['runs-code', 'changes-environment'] }
}
