import * as z from 'zod'
import { date, duration, oneOrMore, strings } from './values.ts'

export const MODES = ['ask', 'accept-edits', 'read-only', 'auto'] as const

/** Where a rule was written, and whether its file may loosen anything. */
export interface RuleOrigin {
  /** Path of the file, `--set`, or the name of the variable. */
  readonly file: string
  readonly line: number
  readonly layer: Layer
  readonly trusted: boolean
}

export type Layer = 'managed' | 'flag' | 'environment' | 'local' | 'project' | 'user' | 'system' | 'built-in'

/** One `[[permissions.rules]]` as written; the permission engine gives it its meaning. */
export type Rule = Omit<z.output<ReturnType<typeof ruleSchema>>, 'id'> & { id: string; origin: RuleOrigin }

/** What an ordered list says when one of its rules matches. `pass`: the list ends here without a verdict. */
export type OrderedAction = 'allow' | 'ask' | 'deny' | 'pass'

export interface OrderedRule {
  readonly tool: string
  readonly pattern: string
  /** An `allow` that may not count is `pass`: taken out, it would let a later rule match what this one caught. */
  readonly action: OrderedAction
  readonly origin: RuleOrigin
}

/** The `[[permissions.rule]]` of one file, first match wins; it yields one verdict, or none. */
export interface OrderedRules {
  readonly defaultAction: OrderedAction
  readonly rules: readonly OrderedRule[]
  readonly origin: RuleOrigin
}

export function permissionsSchema() {
  return z
    .strictObject({
      default: z
        .enum(['ask', 'deny'], { error: 'Must be "ask" or "deny": what no rule matches is never allowed.' })
        .default('ask')
        .describe('When nothing matches'),
      commands: z
        .enum(['contain', 'ask'])
        .default('contain')
        .describe(
          'Command lines run contained and their changes are judged, or are asked about before they run',
        ),
      approval_timeout: duration().prefault('30m').describe('How long a question waits before it expires'),
      remember_max: duration().prefault('30d').describe('Longest time that a permanent answer lasts'),
      rules: z.array(z.lazy(ruleSchema)).default([]),
      default_action: z
        .enum(['allow', 'ask', 'deny'])
        .optional()
        .describe('Ordered form: when no rule matches'),
      rule: z.array(z.lazy(orderedRuleSchema)).default([]).describe('Ordered form: the first match wins'),
    })
    .refine(value => value.rule.length === 0 || value.default_action !== undefined, {
      error: 'Ordered rules need default_action = "allow", "ask" or "deny".',
      path: ['rule'],
    })
    .prefault({})
}

function ruleSchema() {
  return z
    .strictObject({
      id: z.string().min(1).max(100).optional(),
      decision: z.enum(['allow', 'ask', 'deny']),
      ...conditions(),
      except: z
        .lazy(() => z.strictObject({ ...conditions(), sensitive: z.literal(true).optional() }))
        .optional()
        .describe('Where the rule does not apply'),
      expires: date().optional(),
      reason: z.string().optional().describe('Shown when the rule decides'),
      match: z.array(z.string()).optional().describe('Examples that the rule must match'),
      not_match: z.array(z.string()).optional().describe('Examples that the rule must not match'),
      after: z.literal('untrusted').optional().describe('Only after untrusted content has entered the run'),
      always: z.boolean().default(false).describe('Ask even where a grant would allow'),
    })
    .refine(({ except, path }) => except?.sensitive === undefined || path !== undefined, {
      error: 'Which files are sensitive matters to rules with a path only.',
      path: ['except', 'sensitive'],
    })
    .refine(rule => rule.decision !== 'allow' || isLimited(rule), {
      error: 'An allow rule has to say what it allows: tool, path, host, command or effects.',
    })
}

/** An allow rule without any of these would be a default of "allow" in disguise. */
function isLimited(
  rule: {
    [Key in 'tool' | 'path' | 'host' | 'command' | 'effects']?: readonly unknown[] | undefined
  },
): boolean {
  return [rule.tool, rule.path, rule.host, rule.command, rule.effects].some(value => value !== undefined)
}

function conditions() {
  return {
    tool: strings()
      .refine(names => names.every(name => !/[\s()]/.test(name)), {
        error:
          'Write the name of a tool, such as "run_command"; commands go into command = ["git", "push", "**"].',
      })
      .optional(),
    path: strings().optional(),
    host: strings().optional(),
    method: strings().optional(),
    command: commandTokens().optional(),
    effects: strings().optional(),
    agents: strings().optional(),
    modes: modes().optional(),
  }
}

/** Tokens, not text: a string is one token, a list its alternatives, `**` any further tokens. */
function commandTokens() {
  const alternatives = z.array(z.string()).min(1)
  return (
    z
      .array(
        z.union([z.string(), alternatives], { error: 'A token is a string or a list of alternatives.' }),
        {
          error: 'Write the command as a list of tokens, such as ["git", ["status", "diff"], "**"].',
        },
      )
      .min(1, 'The list is empty; leave the key out instead.')
      // The first word is the program: with a space in it, it would never match anything.
      .refine(([program = '']) => [program].flat().every(word => !/\s/.test(word)), {
        error: 'Write each word by itself: ["git", "push", "**"], not ["git push"].',
      })
  )
}

/** `approval` is what an earlier draft called `ask`. */
function modes() {
  const message = `Modes are ${MODES.join(', ')}.`
  const mode = z.enum([...MODES, 'approval'], { error: message })
  return oneOrMore(mode, message).transform(list => list.map(item => (item === 'approval' ? 'ask' : item)))
}

function orderedRuleSchema() {
  return z.strictObject({
    tool: z
      .string()
      .min(1)
      .refine(name => name === '*' || !name.includes('*'), { error: 'Write the name of one tool, or "*".' })
      .describe('Name of the tool, or *'),
    pattern: z.string().describe('With the wildcards * and ?'),
    action: z.enum(['allow', 'deny', 'ask']),
  })
}
