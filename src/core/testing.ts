import { hash } from 'node:crypto'
import * as z from 'zod'
import { type Approver, noApprover } from './approval.ts'
import type { AuditEvent, AuditLog } from './audit.ts'
import { type AuthorityWish, fullAuthority } from './authority.ts'
import type { Call, CallRuntime } from './call.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Judgement, PermissionEngine } from './decision.ts'
import type { Hooks } from './hooks.ts'
import type { CallJournals, JournalLine } from './inner-calls.ts'
import { localProvider } from './provider.ts'
import { createRedactor } from './redact.ts'
import { Registry } from './registry.ts'
import { createRun } from './run.ts'
import { findIn, type QuestionStore, type StoredQuestion } from './stored-question.ts'
import { type AnyTool, defineTool } from './tool.ts'

// For tests of the pipeline: a runtime whose parts are small and visible.

export const echo = defineTool({
  name: 'echo',
  aliases: ['Echo', 'say'],
  parameterAliases: { message: 'text', seconds: { to: 'ms', convert: value => Number(value) * 1000 } },
  title: 'Echo',
  description: 'Returns its text.',
  category: 'ReadOnly',
  risk: 'low',
  input: z.object({
    text: z.string(),
    ms: z.int().min(0).max(10_000).optional(),
    kind: z.enum(['a', 'b']).default('a'),
  }),
  access: () => [],
  run: async ({ text }) => ({ text }),
})

export function toolNamed(name: string, options: Partial<AnyTool> = {}): AnyTool {
  return { ...echo, aliases: [], name, ...options }
}

export interface TestRuntime {
  readonly runtime: CallRuntime
  readonly events: AuditEvent[]
}

export async function createTestRuntime(options: {
  tools?: readonly AnyTool[]
  decide?: () => Judgement['decision']
  hooks?: Partial<Hooks>
  clock?: Clock
  reviewers?: CallRuntime['reviewers']
  audit?: Partial<AuditLog>
}): Promise<TestRuntime> {
  const events: AuditEvent[] = []
  const registry = new Registry()
  await registry.add(localProvider('test', 'Test', 0, options.tools ?? [echo]))
  const runtime: CallRuntime = {
    workspace: '/workspace',
    registry,
    permissions: engineThatSays(
      options.decide ?? (() => ({ outcome: 'allow', by: 'rule', ref: null, reason: 'ok' })),
    ),
    hooks: { before: [], after: [], ...options.hooks },
    audit: {
      record: event => {
        events.push(event)
      },
      flush: async () => undefined,
      close: async () => undefined,
      ...options.audit,
    },
    clock: options.clock ?? systemClock,
    questions: memoryQuestions(),
    journals: memoryJournals(),
    questionMs: 60_000,
    reviewers: options.reviewers ?? [],
    undoLimits: { fileBytes: Number.POSITIVE_INFINITY, totalBytes: Number.POSITIVE_INFINITY },
    isEnabled: ({ tool }) => tool.name !== 'switched_off',
    openFiles: () => ({ files: NO_FILES, effects: [], close: async () => undefined }),
    openProcesses: () => ({ run: () => Promise.reject(new Error('no processes in this test')) }),
    redactor: createRedactor({ values: ['hunter2'] }),
    digestInput: input => hash('sha256', JSON.stringify(input) ?? ''),
  }
  return { runtime, events }
}

export function testCall(
  tool: string,
  input: unknown,
  {
    approver = noApprover('this is a test'),
    authority,
    ...options
  }: Partial<Call> & { approver?: Approver; authority?: AuthorityWish } = {},
): Call {
  return {
    id: 'call_1',
    tool,
    input,
    caller: 'test',
    run: createRun('run_1', {
      authority: { ...fullAuthority('/workspace', 'ask'), ...authority },
      approver,
    }),
    cwd: '/workspace',
    signal: new AbortController().signal,
    ...options,
  }
}

function engineThatSays(decide: () => Judgement['decision']): PermissionEngine {
  return {
    judge: request => ({
      decision: decide(),
      mode: 'ask',
      cwd: request.cwd,
      hard: decide().by === 'hard-stop',
      risk: request.risk,
      access: request.access,
      reasons: [],
      permit: {
        access: request.access,
        writeScope: [],
        judged: () => undefined,
        mayRead: () => true,
        isProtected: () => false,
      },
    }),
    coveredBy: async () => [],
    narrow: async (_request, offer) => offer,
    settle: (_request, judgement, answer) => {
      const yes = answer.kind === 'once' || answer.kind === 'session' || answer.kind === 'permanent'
      return {
        ...judgement.decision,
        outcome: yes ? 'allow' : 'deny',
        by: 'user',
        reason: `answered ${answer.kind}`,
      }
    },
  }
}

function memoryQuestions(): QuestionStore {
  const all = new Map<string, StoredQuestion>()
  const find = (id: string) => findIn([...all.values()], id)
  return {
    save: async stored => {
      all.set(stored.question.id, stored)
    },
    list: async () => [...all.values()],
    find: async id => find(id),
    answer: async (id, answer, at) => {
      const stored = find(id)
      if (stored === undefined) return undefined
      if (stored.answer !== undefined) return { stored, isFirst: false }
      const answered = { ...stored, answer: { ...answer, at } }
      all.set(stored.question.id, answered)
      return { stored: answered, isFirst: true }
    },
    extend: async (id, expiresAt) => {
      const stored = find(id)
      if (stored === undefined || stored.answer !== undefined) return false
      all.set(id, { ...stored, question: { ...stored.question, expiresAt } })
      return true
    },
    end: async id => all.delete(id),
  }
}

function memoryJournals(): CallJournals {
  const all = new Map<string, readonly JournalLine[]>()
  const held = new Set<string>()
  return {
    read: call => all.get(call),
    append: (call, lines) => void all.set(call, [...(all.get(call) ?? []), ...lines]),
    end: call => void all.delete(call),
    async hold(call) {
      if (held.has(call)) return undefined
      held.add(call)
      return { release: () => void held.delete(call) }
    },
  }
}

function nothing(): never {
  throw new Error('no files in this test')
}

const NO_FILES = {
  resolve: nothing,
  open: nothing,
  list: nothing,
  update: nothing,
  remove: nothing,
  move: nothing,
  receipts: new Map<string, string>(),
}
