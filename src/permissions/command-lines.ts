import type { analyzeCommand } from './commands/analyze.ts'
import type { CommandAnalysis, CommandContext } from './commands/types.ts'

interface LineOptions extends Pick<CommandContext, 'home' | 'workspace'> {
  /** Defaults to one that is loaded when it is first needed. */
  readonly analyzeCommand?: typeof analyzeCommand
}

const CACHED_LINES = 500

/** Agents repeat command lines; a line means the same as long as it runs in the same folder. */
export function commandLines({ home, workspace, analyzeCommand: given }: LineOptions) {
  const cache = new Map<string, CommandAnalysis>()
  let analyzer = given
  return {
    isLoaded: () => analyzer !== undefined,
    async load() {
      analyzer = (await import('./commands/analyze.ts')).analyzeCommand
    },
    analyze(line: string, cwd: string): CommandAnalysis {
      const key = `${cwd}\0${line}`
      const known = cache.get(key)
      if (known !== undefined) return known
      if (analyzer === undefined) throw new Error('A command line is judged before the analyser is loaded.')
      const analysis = analyzer(line, { cwd, home, workspace })
      if (cache.size >= CACHED_LINES) cache.clear()
      cache.set(key, analysis)
      return analysis
    },
  }
}
