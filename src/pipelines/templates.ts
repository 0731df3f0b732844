import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { PipelineTemplate } from '../agents/pipelines/templates/template.ts'
import { ToolError } from '../core/errors.ts'
import { closest } from '../core/suggest.ts'
import { replaceText } from '../store/saved-text.ts'

/** Writes a pipeline with its panels and rehearsals; nothing is replaced. Returns the files, the pipeline first. */
export async function writeTemplate(workspace: string, name: string, template: string): Promise<string[]> {
  if (!/^[a-z][a-z0-9_-]{0,40}$/.test(name))
    throw new ToolError('invalid_input', 'The name of a pipeline is lower case.', {
      hint: 'For example: kogu pipeline new weekly',
    })
  return writeTemplateFiles(workspace, name, await findTemplate(template))
}

export function writeTemplateFiles(
  workspace: string,
  name: string,
  { pipeline, panels = {}, rehearsals = {} }: PipelineTemplate,
): string[] {
  const named = (kind: string, end: string): string =>
    join(workspace, '.kogu', kind, `${end === 'summary' ? end : `${name}-${end}`}.toml`)
  const files: [string, string][] = [
    [join(workspace, '.kogu/pipelines', `${name}.toml`), pipeline],
    ...Object.entries(panels).map(([end, text]): [string, string] => [named('panels', end), text]),
    ...Object.entries(rehearsals).map(([end, text]): [string, string] => [named('rehearsals', end), text]),
  ]
  const taken = files.find(([path]) => existsSync(path) && !path.endsWith('/rehearsals/summary.toml'))
  if (taken !== undefined) throw new ToolError('conflict', `${taken[0]} already exists.`)
  for (const [path, text] of files) {
    if (!existsSync(path)) replaceText(path, text.replaceAll('NAME', name), null)
  }
  return files.map(([path]) => path)
}

export const TEMPLATES = [
  'folder-summary',
  'er-diagram',
  'design-to-code',
  'bug-fix',
  'auto-docs',
  'code-review',
  'market-research',
  'weekly-review',
  'self-bootstrap',
] as const

/** The templates with what each of them says that it does. */
export async function describeTemplates(): Promise<{ name: string; description: string }[]> {
  const all = TEMPLATES.map(async name => {
    const { pipeline } = await findTemplate(name)
    return { name, description: /^description = "(.*)"$/m.exec(pipeline)?.[1] ?? '' }
  })
  return Promise.all(all)
}

async function findTemplate(name: string): Promise<PipelineTemplate> {
  const documents = await import('../agents/pipelines/templates/documents.ts')
  const code = await import('../agents/pipelines/templates/code.ts')
  const { selfBootstrap } = await import('../agents/pipelines/templates/bootstrap.ts')
  const known: Readonly<Record<(typeof TEMPLATES)[number] | 'todo', PipelineTemplate>> = {
    todo: documents.TODO,
    'folder-summary': documents.FOLDER_SUMMARY,
    'er-diagram': documents.ER_DIAGRAM,
    'auto-docs': documents.AUTO_DOCS,
    'code-review': documents.CODE_REVIEW,
    'market-research': documents.MARKET_RESEARCH,
    'weekly-review': documents.WEEKLY_REVIEW,
    'design-to-code': code.DESIGN_TO_CODE,
    'bug-fix': code.BUG_FIX,
    'self-bootstrap': selfBootstrap({ rounds: 3, gate: true }),
  }
  const found = Object.entries(known).find(([each]) => each === name)?.[1]
  if (found !== undefined) return found
  const near = closest(name, Object.keys(known))
  throw new ToolError('not_found', `There is no template '${name}'.`, {
    hint: near === undefined ? `There are ${TEMPLATES.join(', ')}.` : `Did you mean '${near}'?`,
  })
}
