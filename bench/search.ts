import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { interleave } from './measure.ts'
import { RARE_WORD, sampleTree } from './sample-tree.ts'
import { type Row, type Target, toRow } from './table.ts'
import { openTemporaryRuntime, type TemporaryRuntime } from './temporary-runtime.ts'

const MANY = 100_000
const FEW = 3000
/** The same files as ours: hidden ones too, and what the repository's own ignore files leave. */
const SAME_FILES = ['--no-config', '--hidden', '--no-ignore-dot', '--no-ignore-global', '--glob=!.git']

/** The whole runtime against the bare ripgrep of the same package, started by Node as a program would. */
export async function measureSearch(): Promise<Row[]> {
  return [
    ...(await inTree(MANY, async search => [
      await search.grep('grep, files', 10, { ratio: 1.15 }, 'files_with_matches', ['--files-with-matches']),
      await search.grep('grep, lines', 10, { ratio: 1.15 }, 'content', ['--line-number']),
      await search.glob('glob, newest first', 10, { ratio: 1 }, 'modified', ['--sortr=modified']),
      await search.glob('glob, unsorted', 10, { ratio: 1 }, 'none', []),
    ])),
    ...(await inTree(FEW, async search => [
      await search.glob('glob, newest first', 40, { ratio: 1 }, 'modified', ['--sortr=modified']),
      await search.glob('glob, unsorted', 40, { ratio: 1 }, 'none', []),
    ])),
  ]
}

async function inTree(files: number, measure: (search: Search) => Promise<Row[]>): Promise<Row[]> {
  const root = sampleTree(files)
  const kogu = await openTemporaryRuntime({ workspace: root })
  try {
    return await measure(createSearch(kogu, root, files))
  } finally {
    await kogu.close()
    rmSync(join(root, '.kogu'), { recursive: true, force: true })
  }
}

type Search = ReturnType<typeof createSearch>

function createSearch(kogu: TemporaryRuntime, root: string, files: number) {
  const compare = async (
    what: string,
    rounds: number,
    target: Target,
    own: () => Promise<unknown>,
    args: readonly string[],
  ): Promise<Row> => {
    const samples = await interleave(rounds, {
      kogu: { run: own },
      peer: { run: () => ripgrep(root, args) },
    })
    const peer = { name: args.includes('--files') ? 'rg --files' : 'rg', samples: samples.peer }
    return toRow({ name: `${what}, ${files.toLocaleString('en')} files`, kogu: samples.kogu, peer, target })
  }
  return {
    async grep(
      what: string,
      rounds: number,
      target: Target,
      output_mode: string,
      options: readonly string[],
    ) {
      const args = [
        ...SAME_FILES,
        '--color=never',
        '--case-sensitive',
        ...options,
        `--regexp=${RARE_WORD}`,
        './',
      ]
      const own = () => kogu.call('grep_search', { pattern: RARE_WORD, output_mode })
      await requireSame(own, () => ripgrep(root, args))
      return compare(what, rounds, target, own, args)
    },
    async glob(what: string, rounds: number, target: Target, sort: string, options: readonly string[]) {
      const args = [...SAME_FILES, '--files', ...options]
      const own = () => kogu.call('glob_search', { pattern: '**/*', sort })
      await requireSame(own, () => ripgrep(root, args))
      return compare(what, rounds, target, own, args)
    },
  }
}

/** Comparing times says nothing unless both find the same number of results. */
async function requireSame(
  own: () => Promise<{ data: unknown }>,
  peer: () => Promise<number>,
): Promise<void> {
  const { data } = await own()
  const total = typeof data === 'object' && data !== null && 'total' in data ? data.total : undefined
  const lines = await peer()
  if (total !== lines) throw new Error(`Kogu finds ${total} results and ripgrep ${lines}.`)
}

/** Runs it and gives the number of lines it prints, read as they come. */
async function ripgrep(cwd: string, args: readonly string[]): Promise<number> {
  const child = spawn(rgPath, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], env: {} })
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
  })
  await once(child, 'close')
  return lines
}
