import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  agentsOf,
  type BuildBox,
  type BuildCase,
  buildIn,
  createBuildBox,
  KILLED,
  killAt,
} from '../test/support/build-world.ts'
import { createTestDatabase } from '../test/support/database.ts'
import { startMockVendor } from '../test/support/mock-vendor.ts'
import { buildWhenOutdated } from './start.ts'
import { type Row, toPlainRow, verdict } from './table.ts'

// The loop that builds itself: killed at every step and at many moments, and on Kogu's own repository.

/** Every line that a build prints when a step begins or ends, and so many milliseconds after it. */
const STEPS = [
  'build',
  'tree',
  'log',
  'analyse',
  'spec',
  'code',
  'check',
  'fix',
  'recheck',
  'add',
  'diff',
  'commit',
]
const MOMENTS: readonly (readonly [string, number])[] = [
  ...STEPS.flatMap(step => [0, 30].map(ms => [`▶ ${step}`, ms] as const)),
  ...[10, 20, 50, 80, 120].flatMap(ms => ['add', 'commit'].map(step => [`▶ ${step}`, ms] as const)),
  ...[0, 5, 10, 20, 40].map(ms => ['✓ commit', ms] as const),
  // While the copy is made.
  ...[0, 20, 50, 100].map(ms => ['mode', ms] as const),
]

export async function measureBuildKills(): Promise<Row[]> {
  buildWhenOutdated()
  const database = await createTestDatabase()
  const vendor = await startMockVendor()
  vendor.play(agentsOf(KILLED))
  const wrong: string[] = []
  let kills = 0
  try {
    for (const [line, ms] of MOMENTS) {
      const box = createBuildBox(database.url, vendor.url, KILLED.files)
      const before = box.digest()
      if ((await killAt(box, ['build', 'fix it', '--verbose'], line, ms)) === null) kills += 1
      const problem = await lookAfterKill(box)
      if (problem !== undefined || box.digest() !== before)
        wrong.push(`${line} +${ms} ms: ${problem ?? 'files changed'}`)
      box.remove()
    }
  } finally {
    await vendor.close()
    await database.close()
  }
  for (const each of wrong) console.log(`  ${each}`)
  return [
    toPlainRow({
      name: 'builds killed, resumed, committed once',
      kogu: `${kills - wrong.length} of ${kills}`,
      target: 'all',
      verdict: verdict(wrong.length === 0),
    }),
  ]
}

/** Goes on with what was left; what is wrong then. */
async function lookAfterKill(box: BuildBox): Promise<string | undefined> {
  const folder = join(box.home, 'state/kogu-builds')
  const known = box.json(['pipeline', 'list']).runs.length > 0 || endedOf(box).length > 0
  // Killed before it was written down: the next one removes what was left of it.
  const resumed = await box.kogu(known ? ['pipeline', 'resume', idOf(box)] : ['build', 'fix it'])
  const copies = existsSync(folder)
    ? readdirSync(folder).flatMap(each => readdirSync(join(folder, each)))
    : []
  if (copies.length !== 1) return `${copies.length} copies`
  const { status, build } = box.json(['pipeline', 'show', idOf(box)])
  if (status !== 'completed' || build.report === undefined) return `${status}: ${resumed.stderr.slice(-300)}`
  const commits = box.git('log', '--format=%s', `main..${build.branch}`)
  if (commits !== 'fix it\n') return `commits ${JSON.stringify(commits)}`
  const text = box.git('show', `${build.branch}:prices.txt`)
  return text === 'tea 120\n' ? undefined : `prices ${JSON.stringify(text)}`
}

const recordsOf = (box: BuildBox): string => {
  const folder = join(box.home, 'state/kogu/workspaces')
  const [workspace = ''] = existsSync(folder) ? readdirSync(folder) : []
  return join(folder, workspace, 'pipelines/runs/ended')
}

/** Without a draft that a killed process left. */
function endedOf(box: BuildBox): string[] {
  const names = existsSync(recordsOf(box)) ? readdirSync(recordsOf(box)) : []
  return names.filter(name => name.endsWith('.json'))
}

function idOf(box: BuildBox): string {
  const [ended = ''] = endedOf(box)
  return ended === '' ? buildIn(box) : ended.replace('.json', '')
}

const ROOT = dirname(import.meta.dirname)

const TOOL = (right: boolean): string => `import * as z from 'zod'
import { defineTool } from '../core/tool.ts'
import { toolPath } from './file-path.ts'

const input = () => z.object({ path: z.string().min(1).describe('The file to count.') })

/** How many lines a file has. */
export const countLines = defineTool({
  name: 'count_lines',
  title: 'Count lines',
  description: 'Count the lines of a text file.',
  category: 'ReadOnly',
  risk: 'low',
  input,
  access: ({ path }, { cwd }) => [{ kind: 'file_read', path: toolPath(path, cwd) }],
  async run({ path }, context) {
    const file = await context.files.open(path)
    const bytes = await file.read(0, file.size)
    file.close()
    const lines = Buffer.from(bytes).toString('utf8').split('\\n').length${right ? ' - 1' : ''}
    return { text: \`\${lines}\`, data: { lines } }
  },
})
`

const TOOL_TEST = `import { expect, test } from 'vitest'
import { countLines } from './count-lines.ts'
import { createToolBench } from './testing.ts'

test('counts the lines of a file', async () => {
  const bench = createToolBench()
  await bench.given('a.txt', 'one\\ntwo\\n')
  expect((await bench.call(countLines, { path: 'a.txt' })).data).toEqual({ lines: 2 })
  await bench.close()
})
`

const OWN: Omit<BuildCase, 'mended'> = {
  files: {},
  goal: 'add a tool that counts the lines of a file',
  coder: [
    { name: 'read_file', input: { path: 'src/tools/list-directory.ts' } },
    { name: 'write_file', input: { path: 'src/tools/count-lines.ts', content: TOOL(false) } },
    { name: 'write_file', input: { path: 'src/tools/count-lines.test.ts', content: TOOL_TEST } },
  ],
  fixer: [
    { name: 'read_file', input: { path: 'src/tools/count-lines.ts' } },
    {
      name: 'edit_file',
      input: {
        path: 'src/tools/count-lines.ts',
        old_string: '.length\n    return',
        new_string: '.length - 1\n    return',
      },
    },
  ],
  result: { 'src/tools/count-lines.ts': TOOL(true) },
}

/** The checks of the tool alone: all tests would take minutes in each round. */
const OWN_CHECKS = `[tools.self_eval]
build = ["true"]
type_check = ["node", "scripts/node24.mjs", "node_modules/typescript/bin/tsc", "--noEmit"]
test = ["node", "scripts/node24.mjs", "node_modules/vitest/vitest.mjs", "run", "src/tools/count-lines.test.ts"]
`

/** Kogu on its own repository, with a played model that adds a small tool. */
export async function measureOwnBuild(): Promise<Row[]> {
  buildWhenOutdated()
  const database = await createTestDatabase()
  const vendor = await startMockVendor()
  vendor.play(agentsOf(OWN))
  const box = createBuildBox(database.url, vendor.url, { 'place.txt': '' }, OWN_CHECKS)
  try {
    rmSync(box.workspace, { recursive: true })
    spawnSync('git', ['clone', '-q', '--no-hardlinks', ROOT, box.workspace])
    symlinkSync(join(ROOT, 'node_modules'), join(box.workspace, 'node_modules'))
    const before = readFileSync(join(box.workspace, '.git/index'))
    const started = performance.now()
    const ran = await box.kogu(['build', OWN.goal, '--json'])
    const seconds = ((performance.now() - started) / 1000).toFixed(0)
    const { branch, rounds, files = [] } = ran.stdout === '' ? {} : JSON.parse(ran.stdout)
    const isRight =
      ran.code === 0 &&
      rounds === 1 &&
      files.length === 2 &&
      box.git('show', `${branch}:src/tools/count-lines.ts`) === TOOL(true) &&
      readFileSync(join(box.workspace, '.git/index')).equals(before)
    if (!isRight) console.log(`  ${ran.stderr.slice(-3000)}`)
    return [
      toPlainRow({
        name: "a tool for Kogu's own repository: wrong, fixed, committed",
        kogu: `${isRight ? 'right' : 'WRONG'}, ${seconds} s`,
        target: 'right',
        verdict: verdict(isRight),
      }),
    ]
  } finally {
    box.remove()
    await vendor.close()
    await database.close()
  }
}
