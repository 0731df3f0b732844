import { changedParts, listPin, pinOf, type ToolDefinition } from './tool-definition.ts'

/** What a person has decided about one server, and what is known of it. */
export interface McpRecord {
  /** Hash of the configuration that was trusted; another one is not. */
  readonly config: string
  readonly trustedAt: string
  /** What it spoke last time; undefined until it has shown its tools once. */
  readonly era?: 'legacy' | 'modern' | undefined
  /** How its last start went. */
  readonly last?:
    | {
        readonly at: string
        readonly problem?: string /** Tools that the configuration turns off. */
        readonly off?: readonly string[]
      }
    | undefined
  /** Definitions as they were approved, by the server's own names. They are also what is offered before it is started. */
  readonly pins: Readonly<Record<string, ToolDefinition>>
  /** Definitions that are new or have changed since. */
  readonly held: Readonly<Record<string, ToolDefinition>>
  /** Where the server was installed, when it had to be fetched. */
  readonly installed?:
    | { readonly package: string; readonly version: string; readonly program: string }
    | undefined
}

/** By `recordKey`. */
export interface McpRecords {
  read(key: string): McpRecord | undefined
  /** Returning undefined removes the record. */
  update(key: string, edit: (record: McpRecord | undefined) => McpRecord | undefined): Promise<void>
}

export interface Comparison {
  /** As they were approved. */
  readonly approved: readonly ToolDefinition[]
  readonly held: Readonly<Record<string, ToolDefinition>>
}

/**
 * The first list that a trusted server shows is what was trusted, an empty one too; whatever comes later has to be approved,
 * unless it is the list that the configuration expects.
 */
export function compareWithPins(
  record: McpRecord,
  tools: readonly ToolDefinition[],
  /** Of the list that the configuration expects. */
  expected?: string,
): Comparison {
  const isTrusted = expected === undefined ? record.era === undefined : expected === listPin(tools)
  if (Object.keys(record.pins).length === 0 && isTrusted) return { approved: tools, held: {} }
  const isApproved = (tool: ToolDefinition): boolean => {
    const pin = Object.hasOwn(record.pins, tool.name) ? record.pins[tool.name] : undefined
    return pin !== undefined && pinOf(pin) === pinOf(tool)
  }
  const held = tools.filter(tool => !isApproved(tool))
  return { approved: tools.filter(isApproved), held: Object.fromEntries(held.map(tool => [tool.name, tool])) }
}

/** Why a tool is held, as a sentence. */
export function describeHeld(record: McpRecord, server: string, tool: ToolDefinition): string {
  const pin = Object.hasOwn(record.pins, tool.name) ? record.pins[tool.name] : undefined
  const what =
    pin === undefined ? 'is new' : `has changed since it was approved (${changedParts(pin, tool).join(', ')})`
  return `the tool ${JSON.stringify(tool.name)} ${what}, so it is held: kogu mcp tools ${server}`
}
