import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import type { ToolContext } from '../core/tool.ts'
import { measuredScore } from './analysis/measured-score.ts'
import { needsAttention } from './attention.ts'
import { chooseCatalogue } from './catalogue/catalogue.ts'
import { type DynamicTool, describeWishes, dynamicToolSchema } from './definition.ts'
import type { Evidence } from './evidence.ts'
import type { DynamicParts } from './parts.ts'
import { refusal } from './refusal.ts'
import { type Metrics, metricsOf, type StoredTool } from './store.ts'
import type { Verification } from './verify.ts'

/** What running code needs of a call. Without `call`, a person tries the code: no call waits for its questions. */
export type CodeContext = Pick<ToolContext, 'callId' | 'caller' | 'run' | 'cwd' | 'workspace' | 'signal'> &
  Partial<Pick<ToolContext, 'call'>>

/** Asks the person about what code that nobody has approved yet may reach. */
export type Consent = (wishes: string) => Promise<boolean>

/** What a person does with dynamic tools; models have the five tools. */
export interface LifeCycle {
  list(): readonly StoredTool[]
  problems(): readonly string[]
  find(nameOrId: string): StoredTool
  metrics(tool: DynamicTool): Metrics
  /** From 0 to 1; null when nothing in the code speaks for or against it. */
  quality(tool: DynamicTool): number | null
  /** What its scores are made of, in the words of a language. */
  evidence(tool: DynamicTool, language: string): Promise<Evidence>
  /** What a person should look at, one sentence each. */
  attention(): readonly string[]
  /** Runs the examples and keeps the status. */
  verify(nameOrId: string, context: CodeContext): Promise<Verification>
  /** Makes a new version; the old one is kept in it. */
  edit(
    nameOrId: string,
    change: { code?: string; description?: string },
    context: CodeContext,
    consent: Consent,
  ): Promise<Verification>
  /** Makes it a tool of all the person's workspaces. */
  promote(nameOrId: string): Promise<DynamicTool>
  /** With a reason it may not run; without one it may again. */
  quarantine(nameOrId: string, reason: string | undefined): Promise<DynamicTool>
  /** It still runs, for whoever calls it, and says in its description that it should not be used any more. */
  deprecate(nameOrId: string): Promise<DynamicTool>
  export(nameOrId: string): string
  /** Analysed anew: nothing that the text says about its safety counts. */
  import(text: string, context: CodeContext, consent: Consent): Promise<Verification>
}

export function createLifeCycle(parts: DynamicParts): LifeCycle {
  const { store, texts } = parts
  const find = (nameOrId: string): StoredTool => {
    const wanted = nameOrId.toLowerCase()
    const found = store.list().find(({ tool }) => tool.id === nameOrId || tool.name.toLowerCase() === wanted)
    if (found === undefined)
      throw refusal(parts, texts.errors.notFound(nameOrId), { code: 'not_found', remedy: 'notFound' })
    return found
  }
  const change = async (
    nameOrId: string,
    update: (tool: DynamicTool) => DynamicTool,
    details: object,
  ): Promise<DynamicTool> => {
    const { tool, scope } = find(nameOrId)
    const next = update(tool)
    await store.save(next, { scope, replaces: tool.id })
    parts.note('tool.update', {
      toolId: tool.id,
      toolName: tool.name,
      actor: 'user',
      success: true,
      ...details,
    })
    return next
  }
  const verified = async (tool: DynamicTool, context: CodeContext): Promise<Verification> => {
    const { verifyTool } = await import('./verify.ts')
    return await verifyTool({ ...tool, verificationStatus: 'pending' }, context, parts)
  }
  return {
    list: () => store.list(),
    problems: () => store.problems(),
    find,
    metrics: metricsOf,
    quality: ({ quality }) => measuredScore(quality),
    async evidence(tool, language) {
      const { evidenceOf } = await import('./evidence.ts')
      return evidenceOf(tool, chooseCatalogue(language, undefined))
    },
    attention: () =>
      needsAttention(
        store.list().map(({ tool }) => tool),
        parts.settings.maxTools,
        parts.now(),
      ),
    async verify(nameOrId, context) {
      const { tool, scope } = find(nameOrId)
      if (tool.quarantined !== undefined)
        throw refusal(parts, texts.errors.quarantined(tool.quarantined), {
          ...{ code: 'forbidden', remedy: 'quarantined' },
        })
      const result = await verified(tool, context)
      await store.save(result.tool, { scope, replaces: tool.id })
      return result
    },
    async edit(nameOrId, { code, description }, context, consent) {
      const { tool, scope } = find(nameOrId)
      const { buildTool } = await import('./create.ts')
      const next = await buildTool(
        {
          ...withoutRun(tool),
          ...fromTask(tool),
          code: code ?? tool.code,
          description: description ?? tool.description,
          createdBy: 'user',
        },
        parts,
        tool,
      )
      if (next.code !== tool.code) await requireConsent(next, consent)
      const result = await verified(next, context)
      await store.save(result.tool, { scope, replaces: tool.id })
      parts.note('tool.update', {
        toolId: next.id,
        toolName: next.name,
        replaces: tool.id,
        version: next.version,
        success: true,
      })
      return result
    },
    async promote(nameOrId) {
      const { tool } = find(nameOrId)
      await store.save(tool, { scope: 'user', replaces: tool.id })
      parts.note('tool.update', {
        toolId: tool.id,
        toolName: tool.name,
        scope: 'user',
        actor: 'user',
        success: true,
      })
      return tool
    },
    quarantine: (nameOrId, reason) =>
      change(
        nameOrId,
        ({ quarantined: _, ...tool }) => (reason === undefined ? tool : { ...tool, quarantined: reason }),
        { quarantined: reason ?? null },
      ),
    deprecate: nameOrId =>
      change(nameOrId, tool => ({ ...tool, verificationStatus: 'deprecated' }), { status: 'deprecated' }),
    export(nameOrId) {
      const { tool } = find(nameOrId)
      parts.note('tool.export', { toolId: tool.id, toolName: tool.name, success: true })
      return `${JSON.stringify({ ...tool, runs: [], usageCount: 0 }, null, 2)}\n`
    },
    async import(text, context, consent) {
      const given = readExport(text, parts)
      const { buildTool } = await import('./create.ts')
      const built = await buildTool({ ...withoutRun(given), ...fromTask(given), createdBy: 'user' }, parts)
      await requireConsent(built, consent)
      const result = await verified(built, context)
      await store.save(result.tool)
      parts.note('tool.import', { toolId: result.tool.id, toolName: result.tool.name, success: true })
      return result
    },
  }
}

/** What the code may reach is bound to the code: other code is asked about before its examples run. */
async function requireConsent(tool: DynamicTool, consent: Consent): Promise<void> {
  const isFree = Object.values(tool.capabilities).every((wishes: readonly string[]) => wishes.length === 0)
  const wishes = describeWishes(tool.name, tool.capabilities)
  if (isFree || (await consent(wishes))) return
  throw new ToolError('needs_approval', `Nobody approved ${wishes}.`)
}

/** What a person makes of it was made in no run. */
function withoutRun({ createdIn: _, ...tool }: DynamicTool): Omit<DynamicTool, 'createdIn'> {
  return tool
}

function fromTask({ createdFromTask }: DynamicTool): { generatedFrom?: string } {
  return createdFromTask === undefined ? {} : { generatedFrom: createdFromTask }
}

function readExport(text: string, parts: DynamicParts): DynamicTool {
  try {
    return dynamicToolSchema().parse(JSON.parse(text))
  } catch (error) {
    const why =
      error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : (error as Error).message
    throw refusal(parts, parts.texts.errors.invalidCode(why))
  }
}
