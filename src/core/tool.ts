import type * as z from 'zod'
import type { Access } from './access.ts'
import type { CallResult } from './call.ts'
import type { Effect } from './effects.ts'
import type { Files, Receipts } from './files.ts'
import type { InnerCall } from './inner-calls.ts'
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
  /** The tool ran, and its answer is no (a failed check, a command that timed out), or it could not tell. */
  verdict?: Verdict
}

export interface Verdict {
  readonly is: 'failed' | 'unknown'
  readonly why: string
}

/** How much deleted or replaced content undo can keep. */
export interface UndoLimits {
  /** For one file. */
  readonly fileBytes: number
  readonly totalBytes: number
}

/** What `access` may use. It must not change anything: previews and explanations call it too. */
export interface AccessContext {
  readonly cwd: string
  readonly workspace: string
  readonly receipts: Receipts
  /** The folder where the last command of the run ended, if it changed. */
  readonly runCwd?: string | undefined
  /** Defaults to the configured limits. */
  readonly undoLimits?: UndoLimits
  /** Defaults to resolving each path anew. */
  readonly resolvePath?: ResolvePath
}

export interface ToolContext {
  readonly callId: string
  readonly caller: string
  /** State for later calls of the same run. */
  readonly run: Run
  readonly cwd: string
  readonly workspace: string
  readonly signal: AbortSignal
  readonly files: Files
  readonly processes: ToolProcesses
  readonly permit: Permit
  /** The layer of this call's command, if it already ran and its changes waited for an answer. */
  readonly heldLayer?: string | undefined
  /**
   * Makes a call as a part of this one. It is judged, recorded and asked about as any, and made once, also when this call
   * waits for its answer and goes on in another process.
   */
  call(inner: InnerCall): Promise<CallResult>
  /** Judges the changes of a contained command, and asks if the rules say so. */
  keepChanges(changes: ProposedChanges): Promise<KeptChanges>
  /** Reports changes that were not made through `files`. They count even if the tool fails later. */
  reportEffects(effects: readonly Effect[]): void
  /** Live output; lost if nobody listens. */
  progress(text: string): void
  /** Asks the person for values in a form. Undefined if nobody can be asked. */
  readonly elicit?: (form: Form) => Promise<FormAnswer>
}

/** A form that another program wants a person to fill in. */
export interface Form {
  readonly message: string
  /** An object of plain values. */
  readonly schema: JsonSchema
}

export type FormAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' }

/** Options for the processes of a call. */
export type ProcessContext = Omit<ToolContext, 'processes'>

/**
 * A tool is one plain object. It declares what it will touch (`access`) and never decides whether it may, so the same
 * resource gets the same verdict through every tool.
 */
export interface Tool<Input = unknown> {
  readonly name: string
  /** Other names of the same tool, matched without regard to case. */
  readonly aliases: readonly string[]
  /** The full name, if the tool's name had to be shortened. Rules match it; calls cannot use it. */
  readonly fullName?: string
  /** Other names of parameters: alias → canonical name. */
  readonly parameterAliases: Readonly<Record<string, ParameterAlias>>
  /** Converts the input of a call under another name, if programs with that name count differently. */
  readonly inputAs?: Readonly<Record<string, InputConversion>>
  readonly title: string
  readonly description: string
  readonly category: Category
  readonly risk: Risk
  /** The person said so in its configuration: also where its line only reads or runs contained. */
  readonly isHighRisk?: boolean
  readonly input: Schema<Input>
  readonly output?: Schema
  /** Parameters whose values are never recorded, because they may hold secrets. */
  readonly unrecorded?: readonly string[]
  /**
   * The label of everything it returns, errors too. Defaults to workspace content for Kogu's own tools, and to untrusted
   * for others.
   */
  readonly label?: Label
  /** It changes only with Kogu itself, so its name is enough as a fingerprint. */
  readonly isPartOfKogu?: true
  /** May run in parallel with adjacent calls that say so too. Otherwise it waits for those before it, and later ones wait for it. */
  readonly parallel?: boolean
  /** Like `parallel`, for a call that runs contained: on its own layer it neither sees nor disturbs other changes. */
  parallelContained?(input: Input): boolean
  /** Time limit of this call in milliseconds. Defaults to the limit of every call. */
  deadlineMs?(input: Input): number
  /** Its code runs in an isolate and touches nothing directly: each access to the outside is its own call. */
  readonly isIsolated?: true
  /** The tool that this one replaces, from a provider of lower priority. */
  readonly overrides?: string
  /** A promise only if it has to read large data, so that the process can answer others meanwhile. */
  access(input: Input, context: AccessContext): Access[] | Promise<Access[]>
  run(input: Input, context: ToolContext): Promise<ToolOutput>
  /** The diff that the call would make, for the person who is asked. Changes nothing. */
  preview?(input: Input, context: AccessContext): string | undefined
  /** The input of the same call without these parts of the preview, counted from 0; undefined if impossible. */
  leaveOut?(
    input: Input,
    parts: ReadonlySet<number>,
    context: AccessContext,
  ): Readonly<Record<string, unknown>> | undefined
  /** Runs it without any effect, for a person who wants to see first. */
  tryOut?(input: Input, context: ToolContext): Promise<string>
}

type InputConversion = (input: Readonly<Record<string, unknown>>) => Record<string, unknown>

/** A plain renaming, or a renaming with a change of unit or meaning. */
export type ParameterAlias = string | { to: string; convert: (value: unknown) => unknown }

// The registry holds tools of every input type; only the pipeline calls them, with input their own schema made.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyTool = Tool<any>

/** What providers add to their tools. */
type Added = 'fullName' | 'isHighRisk' | 'label' | 'isPartOfKogu' | 'isIsolated' | 'overrides'
type DefinedOtherwise = 'aliases' | 'parameterAliases' | 'input' | 'output'

type Definition<Shape extends z.ZodRawShape> = Omit<
  Tool<z.output<z.ZodObject<Shape>>>,
  Added | DefinedOtherwise
> & {
  aliases?: readonly string[]
  parameterAliases?: Readonly<Record<string, ParameterAlias>>
  /** A function, because schemas are slow to build: called when the tool is first called or described. */
  input: z.ZodObject<Shape> | (() => z.ZodObject<Shape>)
  /** Fields of `data` that programs can rely on if present; there may be more. */
  output?: Readonly<Record<string, JsonSchema>>
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

/** A schema of results. They are our own, so they are not checked. */
export function describedOutput(properties: Readonly<Record<string, JsonSchema>>): Schema {
  return { json: { type: 'object', properties }, parse: value => ({ ok: true, value }) }
}
