import type { Step } from '../agents/pipelines/pipeline.ts'
import type { Fill } from '../agents/pipelines/run-pipeline.ts'
import { referencesIn, toText } from '../agents/pipelines/values.ts'
import { ToolError } from '../core/errors.ts'
import type { Registry } from '../core/registry.ts'
import { render, toLine } from '../providers/custom/render.ts'
import { parseTemplate, type Template } from '../providers/custom/template.ts'
import { TemplateError } from '../providers/custom/template-error.ts'

// A command line of a step with references in it. What a panel or a page said must not become a part of the shell's syntax: as
// in custom tools, each value is one argument. A line that is one reference and nothing else is the value itself.

const REFERENCE = /\{\{[^{}]*\}\}/g

/** Why its references cannot stand where they do. */
export function problemOfLine(step: Step, registry: Registry): string | undefined {
  const line = lineOf(step, registry)
  try {
    if (line !== undefined) toTemplate(line)
    return undefined
  } catch (error) {
    if (error instanceof TemplateError) return asWritten(error.message, line)
    throw error
  }
}

/** The arguments of a step with its values filled in. */
export function fillArgs(step: Step, fill: Fill, registry: Registry): Record<string, unknown> {
  const line = lineOf(step, registry)
  // What is filled in has the keys of what it is filled into.
  if (line === undefined) return withContent(step, fill(step.args) as Record<string, unknown>, fill, registry)
  const { command: _, ...rest } = step.args
  const references = [...line.matchAll(REFERENCE)]
  const values = references.map(([reference], index) => [nameOf(index), toText(fill(reference))] as const)
  try {
    const command = toLine(render(toTemplate(line), Object.fromEntries(values)))
    return { ...(fill(rest) as Record<string, unknown>), command }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    throw new ToolError('invalid_input', asWritten(error.message, line), {
      hint: 'Put -- before it where the program takes such values.',
    })
  }
}

/** The one place where the answer of a panel becomes a file. */
function withContent(
  { tool = '', args }: Step,
  filled: Record<string, unknown>,
  fill: Fill,
  registry: Registry,
): Record<string, unknown> {
  const writer = registry.candidates(tool)[0]?.tool
  if (writer?.name !== 'write_file') return filled
  const keyOf = (name: string): string =>
    Object.keys(args).find(key => writer.parameterAliases[key] === name) ?? name
  const path = filled[keyOf('path')]
  const content = keyOf('content')
  return typeof path === 'string' ? { ...filled, [content]: fill(args[content], path) } : filled
}

function lineOf({ tool, args: { command } }: Step, registry: Registry): string | undefined {
  if (tool === undefined || registry.candidates(tool)[0]?.tool.name !== 'run_command') return undefined
  if (typeof command !== 'string' || referencesIn(command).length === 0) return undefined
  return /^\{\{[^{}]*\}\}$/.test(command) ? undefined : command
}

const nameOf = (index: number): string => `value_${index}`

function toTemplate(line: string): Template {
  let index = 0
  const source = line.replaceAll(REFERENCE, () => `{${nameOf(index++)}}`)
  return parseTemplate(source, new Set(Array.from({ length: index }, (_, each) => nameOf(each))))
}

/** Messages are about names that only the template knows. */
function asWritten(message: string, line = ''): string {
  const references = line.match(REFERENCE) ?? []
  return message.replaceAll(/[{']value_(\d+)[}']/g, (_, index: string) => references[Number(index)] ?? '')
}
