// Exit codes that are an answer and not a failure. Only for a line that ends with the program: its code is the line's.
const MEANINGS: readonly (readonly [RegExp, number, string])[] = [
  [/^(grep|egrep|fgrep|rg|ag|git grep)$/, 1, 'no line matched'],
  [/^(diff|cmp|git diff)$/, 1, 'the files differ'],
  [/^(test|\[)$/, 1, 'the condition is false'],
  [/^(which|command|type|pgrep)$/, 1, 'not found'],
  [/^(curl)$/, 22, 'the server answered with an error'],
]

const GENERAL: Readonly<Record<number, string>> = {
  126: 'the program could not be started',
  127: 'the program was not found',
  130: 'interrupted',
  137: 'killed',
  139: 'it crashed (segmentation fault)',
  143: 'ended by request',
}

/** What an exit code says, where that is known. */
export function exitMeaning(line: string, code: number | null): string | null {
  if (code === null || code === 0) return null
  return answerOf(line, code) ?? GENERAL[code] ?? null
}

/** An exit code that is an answer and no failure: a search that found nothing. */
export function answerOf(line: string, code: number | null): string | undefined {
  const last =
    line
      .split(/\|\||&&|[|;\n]/)
      .at(-1)
      ?.trim() ?? ''
  const [program = '', second = ''] = last.split(/\s+/)
  const names = [program.slice(program.lastIndexOf('/') + 1), `${program} ${second}`]
  const known = MEANINGS.find(([pattern, value]) => value === code && names.some(name => pattern.test(name)))
  return known?.[2]
}
