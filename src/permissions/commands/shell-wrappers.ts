/** Programs whose arguments or input are shell code: shells, `su -c`, `source`, `ssh host cmd`, terminals. */
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

const SHELLS = /^(?:ba|da|z|k|a|mk|c|tc|fi|rba)?sh$|^(?:pwsh|powershell)$/

export function isShell(program: string): boolean {
  return SHELLS.test(program)
}

export function wrap(
  level: Level,
  text: string,
  effects: EffectName[],
  inner: Arg[] | null,
  scripts: string[] = [],
): Wrapped {
  return { level, text, effects, inner, scripts }
}

export function unwrapShell(args: Arg[], stdin: string | null): Wrapped {
  const words = args.map(seen)
  const at = words.findIndex(
    word => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word) || word === '--command' || /^-Command$/i.test(word),
  )
  if (at !== -1) {
    let code = at + 1
    while (/^[-+][a-zA-Z]|^--$/.test(words[code] ?? '')) code += 1
    // `bash -c 'rm -rf "$@"' x /`: the words after the code are its parameters.
    return wrap('unknown', 'runs text as a shell script', ['runs-code'], null, [
      withParameters(words[code] ?? '', words.slice(code + 1)),
    ])
  }
  const script = args.find(arg => !/^[-+]/.test(seen(arg)))
  if (script?.content !== undefined)
    return wrap('unknown', 'runs the output of a command', ['runs-code'], null, [script.content])
  const fromInput = script === undefined || words.includes('-s') || isInput(seen(script))
  if (!fromInput) return wrap('unknown', 'runs a shell script', ['runs-code'], null)
  if (stdin !== null) return wrap('unknown', 'runs its input as a shell script', ['runs-code'], null, [stdin])
  return wrap('dangerous', 'runs whatever arrives on its input', ['runs-code'], null)
}

/** Puts parameters where the code names them, for the scan only. */
function withParameters(code: string, parameters: string[]): string {
  if (parameters.length === 0 || !/\$[@*\d{]/.test(code)) return code
  const quoted = parameters.map(text => `'${text.replaceAll("'", "'\\''")}'`)
  return code
    .replace(/"?\$\{?[@*]\}?"?/g, () => quoted.slice(1).join(' '))
    .replace(/"?\$\{?(\d)\}?"?/g, (_, digit: string) => quoted[Number(digit)] ?? '')
}

export function unwrapSu(args: Arg[]): Wrapped {
  const words = args.map(seen)
  const at = words.findIndex(word => /^-\w*c$|^--command$/.test(word))
  const attached = words.find(word => word.startsWith('--command='))?.slice('--command='.length)
  const scripts = at !== -1 ? [words[at + 1] ?? ''] : attached === undefined ? [] : [attached]
  return wrap('dangerous', 'runs as another user', ['privilege'], null, scripts)
}

function isInput(path: string): boolean {
  return /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(path)
}

export function unwrapSource(args: Arg[], stdin: string | null): Wrapped | null {
  const script = args[0]
  const text = script?.content ?? (isInput(seen(script)) ? stdin : null)
  if (text === null) return null
  return wrap('unknown', 'runs code inside the shell', ['runs-code', 'changes-environment'], null, [text])
}
