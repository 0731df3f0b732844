import type * as z from 'zod'
import type { Access } from './access.ts'
import type { Effect } from './effects.ts'
import type { Files, Receipts } from './files.ts'
import type { Permit } from './permit.ts'
import type { ToolProcesses } from './processes.ts'
import type { KeptChanges, ProposedChanges } from './proposed-changes.ts'
import type { ResolvePath } from './real-path.ts'
import type { Run } from './run.ts'
import { fromZod, type JsonSchema, type Schema } from './schema.ts'

/** Shown to people. Authority never depends on it. */
type Category = 'ReadOnly' | 'FileSystem' | 'Execution' | 'VersionControl' | 'Composite'

/** low: no side effect, runs without review. high: everything else, and everything unknown. */
export type Risk = 'low' | 'high'

/** Where a result's content came from, for policies that act on what entered a run. */
export interface Label {
  origin: 'workspace' | 'outside' | 'command' | 'web' | 'mcp' | 'dynamic' | 'kogu' | 'other'
  trusted: boolean
  /** The host, server, path or command. Defaults to the first thing that the call touched, or to the provider. */
  source?: string
}

export interface ToolOutput {
  /** For the model and the person. */
  text: string
  /** The same for programs. */
  data?: unknown
  images?: readonly { mimeType: string; base64: string }[]
  /** Defaults to that of the tool. */
  label?: Label
}

/** How much of what a call destroys can be kept. */
export interface UndoLimits {
  /** Of one file. */
  readonly fileBytes: number
  readonly totalBytes: number
}

/** What `access` may look at. It must not change anything: it is called for previews and explanations too. */
export interface AccessContext {
  readonly cwd: string
  readonly workspace: string
  readonly receipts: Receipts
  /** Where the last command of the run ended, when that is not where it began. */
  readonly runCwd?: string
  /** Defaults to the configured limits. */
  readonly undoLimits?: UndoLimits
  /** Defaults to resolving each path afresh. */
  readonly resolvePath?: ResolvePath
}

export interface ToolContext {
  readonly callId: string
  readonly runId: string
  /** What later calls of the same run will find. */
  readonly run: Run
  readonly cwd: string
  readonly workspace: string
  readonly signal: AbortSignal
  readonly files: Files
  readonly processes: ToolProcesses
  readonly permit: Permit
  /** The layer of a command of this call that has run already, and whose changes waited for an answer. */
  readonly heldLayer?: string
  /** Judges what a contained command did on its layer, and asks where the rules say so. */
  keepChanges(changes: ProposedChanges): Promise<KeptChanges>
  /** What it changed by other means than `files`. It counts also when the tool fails afterwards. */
  reportEffects(effects: readonly Effect[]): void
  /** Live output for whoever watches; lost when nobody does. */
  progress(text: string): void
  /** Asks the person for values, in a form. Undefined when nobody can be asked. */
  readonly elicit?: (form: Form) => Promise<FormAnswer>
}

/** What another program wants a person to fill in. */
export interface Form {
  readonly message: string
  /** An object of plain values. */
  readonly schema: JsonSchema
}

export type FormAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' }

/** What processes of a call are opened with. */
export type ProcessContext = Omit<ToolContext, 'processes'>

/**
 * A tool is one plain object. It says what it will touch (`access`); whether it may is decided elsewhere, so that the
 * same resource gets the same verdict through every tool.
 */
export interface Tool<Input = unknown> {
  readonly name: string
  /** Other names of the same tool, matched without regard to case. */
  readonly aliases: readonly string[]
  /** What rules know it by as well, where its name had to be shortened. It is not called by it. */
  readonly fullName?: string
  /** Other names of parameters: alias → canonical name. */
  readonly parameterAliases: Readonly<Record<string, ParameterAlias>>
  /** What an input means under one of the other names, where a program that uses that name counts otherwise. */
  readonly inputAs?: Readonly<Record<string, InputConversion>>
  readonly title: string
  readonly description: string
  readonly category: Category
  readonly risk: Risk
  readonly input: Schema<Input>
  readonly output?: Schema
  /** Parameters whose values are not put on record: they are there to hold secrets. */
  readonly unrecorded?: readonly string[]
  /**
   * Of everything it returns, failures too. Defaults to content of the workspace for tools that are part of Kogu; others
   * are not trusted.
   */
  readonly label?: Label
  /** It changes only with Kogu itself, so its name is all of its fingerprint. */
  readonly isPartOfKogu?: true
  /** It may run beside other calls of a turn that say so too. Otherwise it waits for those before it, and those after for it. */
  readonly parallel?: boolean
  /** As `parallel`, of a call that runs contained: on a layer of its own it neither sees what others change nor disturbs them. */
  parallelContained?(input: Input): boolean
  /** How long this call may take at most, in milliseconds. Defaults to the limit that holds for every call. */
  deadlineMs?(input: Input): number
  /** Its code runs in an isolate and touches nothing by itself: what it wants from outside is a call of its own. */
  readonly isIsolated?: true
  /** Set by a tool that means to replace the tool of this name from a provider of lower priority. */
  readonly overrides?: string
  /** A promise only where it has to read what could be large: the process answers others meanwhile. */
  access(input: Input, context: AccessContext): Access[] | Promise<Access[]>
  run(input: Input, context: ToolContext): Promise<ToolOutput>
  /** What a person who is asked should see: the difference it would make. Changes nothing. */
  preview?(input: Input, context: AccessContext): string | undefined
  /** The input of a call that does the same without these parts of the preview, counted from 0; undefined when there is none. */
  leaveOut?(
    input: Input,
    parts: ReadonlySet<number>,
    context: AccessContext,
  ): Readonly<Record<string, unknown>> | undefined
  /** Does it without any effect, for a person who wants to see first. Only when asked for. */
  tryOut?(input: Input, context: ToolContext): Promise<string>
}

type InputConversion = (input: Readonly<Record<string, unknown>>) => Record<string, unknown>

/** A plain renaming, or a renaming with a change of unit or meaning. */
export type ParameterAlias = string | { to: string; convert: (value: unknown) => unknown }

// The registry holds tools of every input type; only the pipeline calls them, with input their own schema made.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyTool = Tool<any>

type Definition<Shape extends z.ZodRawShape> = {
  name: string
  aliases?: readonly string[]
  parameterAliases?: Readonly<Record<string, ParameterAlias>>
  inputAs?: Readonly<Record<string, InputConversion>>
  title: string
  description: string
  category: Category
  risk: Risk
  unrecorded?: readonly string[]
  parallel?: boolean
  parallelContained?(input: z.output<z.ZodObject<Shape>>): boolean
  deadlineMs?(input: z.output<z.ZodObject<Shape>>): number
  /** A function: made when the tool is first called or described. Schemas take their time to build. */
  input: z.ZodObject<Shape> | (() => z.ZodObject<Shape>)
  /** Fields of `data` that programs can rely on where they are there; there may be more. */
  output?: Readonly<Record<string, JsonSchema>>
  access(input: z.output<z.ZodObject<Shape>>, context: AccessContext): Access[] | Promise<Access[]>
  run(input: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<ToolOutput>
  preview?(input: z.output<z.ZodObject<Shape>>, context: AccessContext): string | undefined
  leaveOut?(
    input: z.output<z.ZodObject<Shape>>,
    parts: ReadonlySet<number>,
    context: AccessContext,
  ): Readonly<Record<string, unknown>> | undefined
  tryOut?(input: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<string>
}

/** Makes a tool of our own from a zod schema. */
export function defineTool<Shape extends z.ZodRawShape>(
  definition: Definition<Shape>,
): Tool<z.output<z.ZodObject<Shape>>> {
  const { input, output, ...rest } = definition
  return {
    ...rest,
    aliases: rest.aliases ?? [],
    parameterAliases: rest.parameterAliases ?? {},
    input: fromZod(typeof input === 'function' ? input : () => input),
    ...(output === undefined ? {} : { output: describedOutput(output) }),
  }
}

/** A schema of results, which are ours and not checked. */
export function describedOutput(properties: Readonly<Record<string, JsonSchema>>): Schema {
  return { json: { type: 'object', properties }, parse: value => ({ ok: true, value }) }
}
