import type { LoadedConfig } from '../../config/load.ts'
import type { Rule } from '../../config/rule-schema.ts'
import { isInside } from '../../core/real-path.ts'
import { escapeGlob } from '../../permissions/rules/patterns.ts'

/**
 * What holds in the copy that a build works on. The copy is the agents' own and is thrown away or reviewed as a whole, so
 * nobody is asked about what stays in it: edits, deletions, commits on its branch. Every deny and ask of the person's files
 * holds as it does elsewhere, hard limits too; what leaves the copy (the network, other folders, publishing) asks.
 */
export function configOfCopy(loaded: LoadedConfig, root: string, home: string): LoadedConfig {
  const { config, workspace } = loaded
  const { permissions } = config
  // A rule that names a file by its full path means the same file in the copy.
  const inCopy = (path: string): string[] => {
    const full = path.replace(/^~(?=\/)/, () => home)
    return isInside(full, workspace.root) ? [path, `${root}${full.slice(workspace.root.length)}`] : [path]
  }
  // From the copy on, `private/**` is another folder: the person's own stays as closed as it was.
  const inBoth = (path: string): string[] =>
    /^(?!\/|~\/|\*\*).*\//s.test(path)
      ? [path, `${escapeGlob(workspace.root)}/${path.replace(/^\.\//, '')}`]
      : inCopy(path)
  const own = permissions.rules.map(rule => withPaths(rule, rule.decision === 'allow' ? inCopy : inBoth))
  return {
    ...loaded,
    workspace: { root, cwd: root, by: 'git' },
    config: {
      ...config,
      mode: 'accept-edits',
      permissions: { ...permissions, rules: [...own, ...RULES.map(toRule)] },
    },
  }
}

function withPaths(rule: Rule, also: (path: string) => string[]): Rule {
  const { path, except } = rule
  return {
    ...rule,
    ...(path === undefined ? {} : { path: path.flatMap(also) }),
    ...(except?.path === undefined ? {} : { except: { ...except, path: except.path.flatMap(also) } }),
  }
}

/** docs/build.md shows the same rules as a person would write them. */
export const RULES: readonly Pick<Rule, 'id' | 'tool' | 'path' | 'command' | 'except'>[] = [
  { id: 'build-delete', tool: ['delete_file'], path: ['**'], except: { sensitive: true } },
  { id: 'build-add', tool: ['git_ops'], command: ['git', '--literal-pathspecs', 'add', '--', '**'] },
  { id: 'build-commit', tool: ['git_ops'], command: ['git', 'commit', '-m', '*'] },
]

function toRule(rule: (typeof RULES)[number], index: number): Rule {
  const origin = { file: 'kogu build', line: index + 1, layer: 'built-in', trusted: true } as const
  return { ...rule, decision: 'allow', always: false, origin }
}
