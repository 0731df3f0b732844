export interface Findings {
  readonly errors?: number
  readonly warnings?: number
  readonly tests?: { readonly passed: number; readonly failed: number; readonly skipped: number }
}

type Reader = (text: string) => Findings | undefined

/** What a tool that checks code says it found. The first format that fits counts; undefined where none does. */
export function countFindings(output: string): Findings {
  const text = output.slice(-400_000).replaceAll(/\u001b\[[0-9;]*m/g, '')
  const found = READERS.map(read => read(text)).filter(each => each !== undefined)
  return Object.assign({}, ...found.toReversed())
}

const READERS: readonly Reader[] = [
  vitest,
  jest,
  pytest,
  nodeTest,
  tap,
  cargoTest,
  goTest,
  eslint,
  cargo,
  biome,
  tsc,
  mypy,
  goLines,
]

function vitest(text: string): Findings | undefined {
  const line = /^\s*Tests\s{2,}(.+)$/m.exec(text)?.[1]
  return line === undefined || !/\(\d+\)/.test(line) ? undefined : tests(line)
}

function jest(text: string): Findings | undefined {
  const line = /^Tests:\s+(.+ total)$/m.exec(text)?.[1]
  return line === undefined ? undefined : tests(line)
}

function pytest(text: string): Findings | undefined {
  const line =
    /^=+ (.*\bin [\d.]+s.*) =+$/m.exec(text)?.[1] ??
    /^(\d+ (?:passed|failed).* in [\d.]+s.*)$/m.exec(text)?.[1]
  if (line === undefined) return undefined
  const errors = numberBefore(line, 'errors?')
  return {
    ...tests(line),
    ...(errors === undefined ? {} : { errors }),
    ...(numberBefore(line, 'warnings?') === undefined
      ? {}
      : { warnings: numberBefore(line, 'warnings?') ?? 0 }),
  }
}

function cargoTest(text: string): Findings | undefined {
  const lines = [...text.matchAll(/^test result: .*$/gm)].map(([line]) => tests(line).tests)
  if (lines.length === 0) return undefined
  const sum = (part: 'passed' | 'failed' | 'skipped'): number =>
    lines.reduce((total, line) => total + (line?.[part] ?? 0), 0)
  return { tests: { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') } }
}

/** Its summary, as TAP comments or in the words of the `spec` reporter. */
function nodeTest(text: string): Findings | undefined {
  const said = (word: string): number | undefined => {
    const found = text.match(new RegExp(`^[#ℹ] ${word} (\\d+)$`, 'gm'))?.at(-1)
    return found === undefined ? undefined : Number(found.split(' ').at(-1))
  }
  const [all, passed, failed] = [said('tests'), said('pass'), said('fail')]
  if (all === undefined || passed === undefined || failed === undefined) return undefined
  const skipped = (said('skipped') ?? 0) + (said('todo') ?? 0)
  return { tests: { passed, failed: failed + (said('cancelled') ?? 0), skipped } }
}

/** Counted by its own lines; what stands further in belongs to one of them. */
function tap(text: string): Findings | undefined {
  if (!/^TAP version 1[34]$/m.test(text)) return undefined
  const lines = text.match(/^(not )?ok\b.*$/gm) ?? []
  const isSkipped = (line: string): boolean => /# (skip|todo)\b/i.test(line)
  const ran = lines.filter(line => !isSkipped(line))
  const failed = ran.filter(line => line.startsWith('not ')).length
  return { tests: { passed: ran.length - failed, failed, skipped: lines.length - ran.length } }
}

function goTest(text: string): Findings | undefined {
  const isGo = /^(ok {2}|FAIL)\t\S+\t(\d|\()|^\s*--- (PASS|FAIL|SKIP): \S+ \(\d/m
  if (!isGo.test(text)) return undefined
  const count = (pattern: RegExp): number => [...text.matchAll(pattern)].length
  const failed = count(/^\s*--- FAIL: /gm)
  // Without -v, go names packages that passed, not tests.
  const passed = count(/^\s*--- PASS: /gm) || count(/^ok\s/gm)
  return { tests: { passed, failed, skipped: count(/^\s*--- SKIP: /gm) } }
}

function eslint(text: string): Findings | undefined {
  const found = /\d+ problems? \((\d+) errors?, (\d+) warnings?\)/.exec(text)
  return found === null ? undefined : { errors: Number(found[1]), warnings: Number(found[2]) }
}

function cargo(text: string): Findings | undefined {
  const errors = /due to (?:(\d+) previous errors?|previous error)/.exec(text)
  const warnings = [...text.matchAll(/generated (\d+) warnings?|; (\d+) warnings? emitted/g)]
  if (errors === null && warnings.length === 0) return undefined
  return {
    errors: errors === null ? 0 : Number(errors[1] ?? 1),
    warnings: warnings.reduce((total, [, one, other]) => total + Number(one ?? other), 0),
  }
}

function biome(text: string): Findings | undefined {
  const errors = /^Found (\d+) errors?\./m.exec(text)?.[1]
  const warnings = /^Found (\d+) warnings?\./m.exec(text)?.[1]
  if (errors === undefined && warnings === undefined) return undefined
  return { errors: Number(errors ?? 0), warnings: Number(warnings ?? 0) }
}

function tsc(text: string): Findings | undefined {
  const errors = [...text.matchAll(/\berror TS\d+:/g)].length
  return errors === 0 ? undefined : { errors, warnings: 0 }
}

function mypy(text: string): Findings | undefined {
  const errors = /^Found (\d+) errors? in /m.exec(text)?.[1]
  return errors === undefined ? undefined : { errors: Number(errors), warnings: 0 }
}

function goLines(text: string): Findings | undefined {
  const errors = [...text.matchAll(/^\S+\.go:\d+:\d+: /gm)].length
  return errors === 0 ? undefined : { errors, warnings: 0 }
}

function tests(line: string): Findings {
  return {
    tests: {
      passed: numberBefore(line, 'passed') ?? 0,
      failed: numberBefore(line, 'failed') ?? 0,
      skipped:
        (numberBefore(line, 'skipped') ?? 0) +
        (numberBefore(line, 'todo') ?? 0) +
        (numberBefore(line, 'ignored') ?? 0),
    },
  }
}

function numberBefore(line: string, word: string): number | undefined {
  const found = new RegExp(`(\\d+) ${word}\\b`).exec(line)?.[1]
  return found === undefined ? undefined : Number(found)
}
