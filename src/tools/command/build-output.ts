import { join } from 'node:path'
import { trackedFiles } from '../../git/git-index.ts'
import type { OverlayChange, OverlayChanges } from '../../sandbox/layer/overlay-changes.ts'
import { ignoreChainAbove, ignoreChainOf, isIgnored, repositoryRoot } from '../search/ignore-chain.ts'

// Caches and builds that git ignores: no person reads `__pycache__` to decide about it. To drop them is always safe, to
// keep them is not: some of it is run later, outside the sandbox. So packages that are installed are not among these.
const FOLDER =
  /^(__pycache__|\.(pytest|mypy|ruff|parcel)[-_]cache|\.cache|\.turbo|\.nyc_output|coverage|htmlcov|\.hypothesis|\.gradle|dist|build|out|target|_build|obj|cmake-build-[\w-]+|\.next|\.nuxt|\.output|\.svelte-kit|\.angular|\.dart_tool|[\w.-]+\.egg-info)$/
const FILE = /^(\.eslintcache|\.coverage|[\w.-]+\.(tsbuildinfo|pyc))$/

export interface SplitChanges {
  /** In folders of builds and caches that git ignores. */
  readonly output: OverlayChanges
  readonly rest: OverlayChanges
}

/** Undefined when nothing of it is output. By the rules of the workspace as it is: the command may have changed them. */
export function splitOutput(changes: OverlayChanges): SplitChanges | undefined {
  const { workspace } = changes
  if (repositoryRoot(workspace) === undefined) return undefined
  const byRoot = Map.groupBy(changes.changes, change => outputRoot(change))
  byRoot.delete('')
  const roots = [...byRoot].filter(
    ([root, inside]) => inside.every(isPlain) && isIgnoredPath(workspace, root, inside),
  )
  const tracked = roots.length === 0 ? undefined : trackedFiles(workspace)
  // What git knows is no output, wherever it lies. Without its list, nobody can tell.
  const isTracked = (root: string): boolean =>
    tracked === null ||
    tracked?.files.some(file => `${file}/`.startsWith(`${join(workspace, root)}/`)) === true
  const own = new Set(roots.filter(([root]) => !isTracked(root)).map(([root]) => root))
  if (own.size === 0) return undefined
  const isOutput = (path: string): boolean => own.has(outputRoot({ path, entry: 'file' }))
  const part = (wanted: boolean): OverlayChanges => ({
    ...changes,
    changes: changes.changes.filter(change => own.has(outputRoot(change)) === wanted),
    touched: changes.touched.filter(({ path }) => isOutput(path) === wanted),
  })
  return { output: part(true), rest: part(false) }
}

/** One line, for the question and the result. */
export function describeOutput({ changes }: OverlayChanges, isKept: boolean): string {
  const count = changes.filter(({ entry }) => entry === 'file').length
  const files = `${count} ${count === 1 ? 'file' : 'files'} in build and cache folders that git ignores`
  if (isKept) return `${files}: kept.`
  return `${files}: dropped. [sandbox] build_output = "keep" keeps them, "ask" asks about them.`
}

/** A deletion is what the line was for, and a link may lead anywhere: both are asked about, with all around them. */
function isPlain({ change, entry }: OverlayChange): boolean {
  return change !== 'deleted' && entry !== 'link'
}

/** The outermost folder or file of the path that has such a name, or ''. */
function outputRoot({ path, entry }: Pick<OverlayChange, 'path' | 'entry'>): string {
  const parts = path.split('/')
  const folders = entry === 'directory' ? parts : parts.slice(0, -1)
  const at = folders.findIndex(name => FOLDER.test(name))
  if (at !== -1) return parts.slice(0, at + 1).join('/')
  return entry === 'file' && FILE.test(parts.at(-1) ?? '') ? path : ''
}

function isIgnoredPath(workspace: string, root: string, inside: readonly OverlayChange[]): boolean {
  const isFile = inside.some(({ path, entry }) => path === root && entry === 'file')
  let chain = ignoreChainOf(join(workspace, '.gitignore'), '', ignoreChainAbove(workspace))
  let folder = ''
  for (const name of root.split('/')) {
    const isLast = `${folder}${name}` === root
    if (isIgnored(chain, folder, name, !(isLast && isFile))) return true
    folder += `${name}/`
    if (!isLast) chain = ignoreChainOf(join(workspace, folder, '.gitignore'), folder, chain)
  }
  return false
}
