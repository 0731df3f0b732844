import type { AnyTool } from '../../core/tool.ts'
import { type CustomToolSettings, toCustomTool } from './custom-tool.ts'
import { TemplateError } from './template-error.ts'

/** Says where in the configuration something is wrong; throws. `offset`: into the text of the command. */
export type ReportCustomTool = (name: string, message: string, offset?: number) => never

const NAME = /^[A-Za-z][\w-]{0,63}$/

/** The tools of `[tools.custom.*]`, or the first thing that is wrong with them. */
export function loadCustomTools(
  custom: Readonly<Record<string, CustomToolSettings>>,
  report: ReportCustomTool,
): AnyTool[] {
  return Object.entries(custom).map(([name, settings]) => {
    if (!NAME.test(name)) {
      report(name, 'A tool name has letters, digits, - and _, at most 64 of them, and begins with a letter.')
    }
    try {
      return toCustomTool(name, settings)
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      return report(name, error.message, error.offset)
    }
  })
}
