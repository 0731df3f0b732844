import { hash } from 'node:crypto'
import type { Catalogue, KeywordGroup } from './catalogue/catalogue.ts'
import { shortened } from './catalogue/layouts.ts'

/** A call of create_tool that works as it stands, to start from. */
export interface Proposal {
  readonly name: string
  readonly description: string
  readonly code: string
  readonly parameters: Readonly<Record<string, { type: string; description: string; required: boolean }>>
}

export function proposalFor(task: string, group: KeywordGroup, texts: Catalogue): Proposal {
  const description = shortened(task.slice(0, 1000).replaceAll(/\s+/g, ' ').trim(), 100)
  const { code, parameter, type } = TEMPLATES[group]
  return {
    // Two tasks of one kind get two names.
    name: `auto_${group}_${hash('sha256', task).slice(0, 6)}`,
    description: description === '' ? texts.reflection.proposal : description,
    code,
    parameters: { [parameter]: { type, description: parameter, required: true } },
  }
}

/** As a call, the way create_tool is written in its documentation. */
export function proposalText({ name, description, code, parameters }: Proposal): string {
  const fields = Object.entries(parameters).map(
    ([key, { type, required }]) =>
      `${key}: { type: '${type}', description: '${key}', required: ${required} }`,
  )
  return [
    'create_tool({',
    `  name: '${name}',`,
    `  description: '${description.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}',`,
    `  code: \`${code.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\`,`,
    `  parameters: { ${fields.join(', ')} }`,
    '})',
  ].join('\n')
}

interface Template {
  readonly code: string
  readonly parameter: string
  readonly type: string
}

const TEMPLATES: Readonly<Record<KeywordGroup, Template>> = {
  repetition: {
    parameter: 'items',
    type: 'array',
    code: `/** Does the same to every item. */
async function execute(params) {
  return params.items.map(item => ({ item, result: String(item).trim() }));
}`,
  },
  conversion: {
    parameter: 'text',
    type: 'string',
    code: `/** Converts lines of comma-separated values to objects; the first line names the fields. */
async function execute(params) {
  const [head, ...rows] = params.text.trim().split("\\n").map(line => line.split(","));
  return rows.map(row => Object.fromEntries(head.map((name, index) => [name.trim(), (row[index] ?? "").trim()])));
}`,
  },
  api: {
    parameter: 'url',
    type: 'string',
    code: `/** Fetches JSON. Declare the host with network: ["..."]. */
async function execute(params) {
  const response = await fetch(params.url, { headers: { Accept: "application/json" } });
  if (!response.ok) return { error: "HTTP " + response.status };
  return await response.json();
}`,
  },
  validation: {
    parameter: 'values',
    type: 'array',
    code: `/** Says which values are empty. */
async function execute(params) {
  const problems = params.values.flatMap((value, index) => (value === null || value === "" ? [{ index, problem: "empty" }] : []));
  return { valid: problems.length === 0, problems };
}`,
  },
  aggregation: {
    parameter: 'numbers',
    type: 'array',
    code: `/** Counts, adds and averages numbers. */
async function execute(params) {
  const numbers = params.numbers.filter(Number.isFinite);
  const sum = numbers.reduce((total, each) => total + each, 0);
  return { count: numbers.length, sum, average: numbers.length === 0 ? null : sum / numbers.length };
}`,
  },
}
