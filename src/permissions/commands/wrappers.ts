/**
 * Programs that start the command in their arguments. The inner command is judged as if it stood alone, so that nothing
 * hides behind `sudo env nice xargs`; the wrapper's own level is added.
 */
import type { EffectName } from '../effect-names.ts'
import { type Arg, seen } from './args.ts'
import { isShell, unwrapShell, unwrapSource, unwrapSu, type Wrapped, wrap } from './shell-wrappers.ts'
import type { Level } from './types.ts'

interface Shape {
  level: Level
  text: string
  effects?: EffectName[]
  /** Options that take the next word. */
  values?: RegExp
  /** Operands before the command (`timeout 5`, `chroot DIR`). */
  operands?: number
  assignments?: boolean
}

const SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    sudo: {
      level: 'dangerous',
      text: 'runs as another user',
      effects: ['privilege'],
      values: /^-(?:[ugUphCrtTDRa]|-user|-group|-chdir|-host|-prompt)$/,
      assignments: true,
    },
    doas: { level: 'dangerous', text: 'runs as another user', effects: ['privilege'], values: /^-[uC]$/ },
    pkexec: { level: 'dangerous', text: 'runs as another user', effects: ['privilege'], values: /^--user$/ },
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
    nohup: { level: 'caution', text: 'leaves a process running', effects: ['background'] },
    setsid: { level: 'caution', text: 'leaves a process running', effects: ['background'] },
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
  } satisfies Record<string, Shape>),
)

export function isWrapper(program: string): boolean {
  return isShell(program) || SHAPES.has(program)
}

export function unwrap(program: string, args: Arg[], stdin: string | null): Wrapped | null {
  if (isShell(program)) return unwrapShell(args, stdin)
  if (program === 'su' || program === 'runuser') return unwrapSu(args)
  if (program === 'source' || program === '.') return unwrapSource(args, stdin)
  if (program === 'at' || program === 'batch')
    return wrap(
      'dangerous',
      'schedules commands',
      ['system-change', 'background'],
      null,
      stdin === null ? [] : [stdin],
    )
  if (program === 'eval') {
    const text = args.map(seen).join(' ')
    return wrap('unknown', 'runs text as a command', ['runs-code', 'changes-environment'], null, [text])
  }
  if (program === 'trap')
    return wrap('unknown', 'schedules a command', ['changes-environment'], null, args.slice(0, 1).map(seen))
  if (program === 'alias')
    return wrap(
      'unknown',
      'gives a command another name',
      ['changes-environment'],
      null,
      args.map(arg => seen(arg).replace(/^[^=]*=/, '')),
    )
  const shape = SHAPES.get(program)
  return shape === undefined ? null : unwrapShape(program, shape, args, stdin)
}

function unwrapShape(program: string, shape: Shape, args: Arg[], stdin: string | null): Wrapped {
  const at = innerStart(shape, args)
  const before = args.slice(0, at)
  const inner = args.slice(at)
  const effects = shape.effects ?? []
  const wrapped = wrap(
    shape.level,
    shape.text,
    effects,
    inner.length > 0 ? inner : null,
    embedded(program, before, inner),
  )
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
    if (word === '--') {
      i += 1
      while (operands > 0) {
        operands -= 1
        i += 1
      }
      break
    }
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
  const scripts: string[] = []
  const all = [...before, ...inner].map(seen)
  if (program === 'env') {
    for (const [i, word] of all.entries()) {
      const attached = /^(?:-\w*S|--split-string=)([\s\S]+)$/.exec(word)?.[1]
      if (attached !== undefined) return [[attached, ...all.slice(i + 1)].join(' ')]
      if (/^-\w*S$|^--split-string$/.test(word)) return [all.slice(i + 1).join(' ')]
    }
  }
  if (program === 'watch' || program === 'parallel') scripts.push(inner.map(seen).join(' '))
  return scripts
}
