import { RE2JS } from 're2js'
import { ToolError } from './errors.ts'

/** A regular expression from outside, on an engine whose time is linear in the text: it cannot be written to hang. */
export interface LinearPattern {
  /** The time that it takes is at most in proportion to this and to the length of the text: `a{1000}` is a thousand times `a`. */
  readonly size: number
  test(text: string): boolean
  replaceAll(text: string, by: (match: string) => string): string
}

/** Loaded only where such patterns are used: most commands need none. */
export function compileLinear(pattern: string): LinearPattern {
  const compiled = compile(pattern)
  return {
    size: compiled.programSize(),
    test: text => compiled.matcher(text).find(),
    replaceAll(text, by) {
      const matcher = compiled.matcher(text)
      let output = ''
      let position = 0
      while (matcher.find()) {
        output += text.slice(position, matcher.start()) + by(text.slice(matcher.start(), matcher.end()))
        position = matcher.end()
      }
      return output + text.slice(position)
    },
  }
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (cause) {
    throw new ToolError('invalid_input', `This regular expression is not supported: ${pattern}`, {
      hint: 'Use RE2 syntax: no look-around and no back-references.',
      cause,
    })
  }
}
