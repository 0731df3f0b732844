import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { RULES } from '../src/pipelines/build/copy-policy.ts'
import { headsOf } from '../src/pipelines/build/report.ts'
import {
  agentsOf,
  type BuildBox,
  type BuildCase,
  CASES,
  createBuildBox,
  eachCase,
} from './support/build-world.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { type MockVendor, startMockVendor } from './support/mock-vendor.ts'

// `kogu build` as a person runs it: the built program, real repositories, a vendor over HTTP.

let database: TestDatabase
let vendor: MockVendor
const boxes: BuildBox[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  vendor = await startMockVendor()
})
afterEach(() => {
  for (const box of boxes.splice(0)) box.remove()
})
afterAll(async () => {
  await vendor.close()
  await database.close()
})

function open(of: BuildCase, config = ''): BuildBox {
  const box = createBuildBox(database.url, vendor.url, of.files, config)
  boxes.push(box)
  return box
}

/** The builds that have a copy. */
const copiesOf = (box: BuildBox): string[] => {
  const folder = join(box.home, 'state/kogu-builds')
  return existsSync(folder) ? readdirSync(folder).flatMap(each => readdirSync(join(folder, each))) : []
}

const last = (ran: { stdout: string }): Record<string, unknown> => JSON.parse(ran.stdout)

for (const { name, of, lacks } of eachCase)
  test.skipIf(lacks)(`${name}: right after one wrong round, in mode ask with nobody there`, async () => {
    const box = open(of)
    vendor.play(agentsOf(of))
    const before = box.digest()
    const ran = await box.kogu(['build', of.goal, '--json'])
    expect(ran.code, ran.stderr).toBe(0)
    const { id, branch, commit, files, rounds, refused, cost_usd: cost } = JSON.parse(ran.stdout)
    expect({ rounds, refused, commit }).toEqual({
      rounds: 1,
      refused: [],
      commit: box.git('rev-parse', branch).trim(),
    })
    expect(Number(cost)).toBeGreaterThan(0)
    // One commit, by the person, that names the run.
    expect(box.git('log', '--format=%an|%B', `main..${branch}`)).toBe(`Kim|${of.goal}\n\nKogu-Run: ${id}\n\n`)
    for (const [path, text] of Object.entries(of.result))
      expect(box.git('show', `${branch}:${path}`)).toBe(text)
    const written = of.coder.flatMap(({ input }) => [(input as { path: string }).path])
    expect(files.map(({ path }: { path: string }) => path).toSorted()).toEqual(
      [...new Set(written)].toSorted(),
    )
    expect(box.digest()).toBe(before)
  })

test('always wrong: failed, nothing committed, everything explained; the copy stays until it is discarded', async () => {
  const rule =
    '[[permissions.rules]]\nid = "mine"\ndecision = "ask"\ntool = "write_file"\npath = ["prices.txt"]\n'
  const box = open(CASES.failing, rule)
  vendor.play(agentsOf(CASES.failing, true))
  const before = box.digest()
  const ran = await box.kogu(['build', 'fix it', '--rounds', '2', '--mode', 'auto', '--plain'])
  expect(ran.code).toBe(1)
  expect(ran.stderr).toMatch(/fix {2}agent fixer, round 2[\s\S]*test: failed/)
  expect(ran.stdout).toMatch(/asked +fix it\nresult +failed\n(?:checked .*\n)*checked +test: failed/)
  expect(ran.stdout).toMatch(
    /rounds +2\nrefused +edit_file: [^\n]*mode is auto[^\n]*\nspent +\d+ calls[\s\S]*nothing was committed/,
  )
  const [id = ''] = copiesOf(box)
  expect(box.git('branch', '--list', '--format=%(refname:short)')).toBe('main\n')
  expect(box.git('log', '--all', '--format=%s')).toBe('First\n')
  expect(box.json(['pipeline', 'show', id])).toMatchObject({
    status: 'failed',
    build: { report: { commit: null } },
  })
  const shown = box.run(['pipeline', 'show', id]).stdout
  expect(shown).toMatch(/recheck +failed +It went back|recheck +failed +test: failed/)
  expect(shown).not.toContain('U+000A')
  expect(box.run(['pipeline', 'accept', id])).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('committed nothing'),
  })
  expect(box.run(['pipeline', 'discard', id]).code).toBe(0)
  expect(copiesOf(box)).toEqual([])
  expect(box.digest()).toBe(before)
})

test('no commit without checks that ran: what was refused is in the report, sensitive files too', async () => {
  const deny = '[[permissions.rules]]\ndecision = "deny"\ntool = "run_command"\ncommand = ["make", "test"]\n'
  const Makefile = `build:\n\t@true\n${CASES.failing.files.Makefile}`
  const box = open(
    { ...CASES.failing, files: { ...CASES.failing.files, Makefile, '.gitlab-ci.yml': 'x' } },
    deny,
  )
  const coder = [
    { name: 'write_file', input: { path: '.github/workflows/ci.yml', content: 'on: push\n' } },
    { name: 'move_file', input: { source: 'prices.txt', destination: '.npmrc' } },
    { name: 'delete_file', input: { path: '.gitlab-ci.yml' } },
    { name: 'move_file', input: { source: 'prices.txt', destination: 'new.txt' } },
    { name: 'delete_file', input: { path: 'new.txt' } },
  ]
  vendor.play(agentsOf({ coder, fixer: [] }))
  // A link in the last commit, and a folder with packages in its place now.
  const elsewhere = join(box.home, 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, join(box.workspace, 'pkg'))
  box.write('.gitignore', 'node_modules\n')
  box.git('add', '.')
  box.git('commit', '-qm', 'Link')
  rmSync(join(box.workspace, 'pkg'))
  box.write('pkg/node_modules/m.js', 'x\n')
  // Objects that are borrowed from another repository, as after git clone --shared.
  renameSync(join(box.workspace, '.git/objects'), join(box.home, 'objects'))
  box.write('.git/objects/info/alternates', `${join(box.home, 'objects')}\n`)
  const ran = await box.kogu(['build', 'x', '--rounds', '1', '--on-ask', 'deny', '--json'])
  expect(ran.code, ran.stderr).toBe(1)
  const { id, commit, refused } = JSON.parse(ran.stdout)
  expect([commit, box.git('log', '--all', '--format=%s')]).toEqual([null, 'Link\nFirst\n'])
  expect(
    refused.map(({ reason }: { reason: string }) => /([\w.-]+)' needs an approval/.exec(reason)?.[1]),
  ).toEqual(['ci.yml', '.npmrc', '.gitlab-ci.yml'])
  const shown = box.run(['pipeline', 'show', id]).stdout
  expect(shown).toMatch(/checked +build: passed[\s\S]*checked +test: could not run. The rule/)
  expect(readdirSync(elsewhere)).toEqual([])
  const { root } = box.json(['pipeline', 'show', id]).build
  expect(existsSync(join(root, '.git/objects/info/alternates'))).toBe(false)
  // It can be found until it is discarded.
  expect(box.run(['pipeline', 'list']).stdout).toContain(id)
  expect(box.run(['pipeline', 'resume', id]).stderr).toContain('This build has ended.')
  box.run(['pipeline', 'discard', id])
  expect(box.run(['pipeline', 'list']).stdout).not.toContain(id)
  expect(box.run(['pipeline', 'resume', id]).stderr).toContain('This build was discarded.')
})

test('checks that are refused as a whole: failed, and nothing is offered that would delete the work', async () => {
  const box = open(CASES.failing, '[[permissions.rules]]\ndecision = "ask"\ntool = "self_eval"\n')
  vendor.play(agentsOf(CASES.failing))
  const ran = await box.kogu(['build', 'fix it', '--on-ask', 'deny', '--json'])
  expect(ran.code, ran.stderr).toBe(1)
  expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'failed', commit: null })
  expect(box.git('branch', '--format=%(refname:short)')).toBe('main\n')
  const accepted = box.run(['pipeline', 'accept', String(last(ran).id)])
  expect([accepted.code, copiesOf(box)]).toEqual([10, [last(ran).id]])
})

test('a branch is taken by one command, or refused with nothing changed: dirty files, conflicts, hooks', async () => {
  const box = open(CASES.failing)
  const coder = [...CASES.failing.coder, { name: 'write_file', input: { path: 'local.txt', content: 'x\n' } }]
  vendor.play(agentsOf({ ...CASES.failing, coder }))
  box.git('branch', 'older')
  box.write('began.txt', 'x\n')
  box.git('add', '.')
  box.git('commit', '-qm', 'Began')
  const build = async (): Promise<string> => String(last(await box.kogu(['build', 'fix it', '--json'])).id)
  const id = await build()
  const refused = (code: number, why: string): void => {
    const before = box.digest()
    expect(box.run(['pipeline', 'accept', id])).toMatchObject({ code, stderr: expect.stringContaining(why) })
    expect(box.digest()).toBe(before)
  }
  box.write('prices.txt', 'tea 13\n')
  refused(10, 'uncommitted changes: prices.txt')
  box.git('commit', '-qam', 'Another price')
  refused(10, 'both sides changed prices.txt')
  box.git('reset', '-q', '--hard', 'HEAD^')
  box.git('checkout', '-q', `kogu/build-${id.slice(3)}`)
  refused(10, 'is checked out in')
  box.git('checkout', '-q', 'main')
  // A merge writes over what git ignores.
  box.write('.git/info/exclude', 'local.txt\n')
  box.write('local.txt', 'mine\n')
  refused(10, 'in the way: local.txt')
  rmSync(join(box.workspace, 'local.txt'))
  // What the build began with is not checked out, and its file is another one here.
  box.git('checkout', '-q', 'older')
  box.write('.git/info/exclude', 'began.txt\n')
  box.write('began.txt', 'mine\n')
  refused(10, 'in the way: began.txt')
  rmSync(join(box.workspace, 'began.txt'))
  box.git('checkout', '-q', 'main')
  // What is an ordinary file in the copy is a program that git starts for the person.
  box.git('config', 'core.fsmonitor', './prices.txt')
  refused(7, 'sensitive files: prices.txt')
  box.git('config', '--unset', 'core.fsmonitor')
  // Somebody else's commit comes in between: a merge, without any of the repository's hooks.
  box.write('other.txt', 'x\n')
  box.git('add', '.')
  box.git('commit', '-qm', 'Other')
  box.write('.git/hooks/post-merge', '#!/bin/sh\ntouch hooked\n')
  box.git('config', 'core.hooksPath', '.git/hooks')
  box.git('config', 'branch.main.mergeOptions', '--squash')
  expect(box.json(['pipeline', 'accept', id])).toMatchObject({ ok: true, how: 'merge' })
  expect([box.read('prices.txt'), box.read('other.txt'), existsSync(join(box.workspace, 'hooked'))]).toEqual([
    'tea 120\n',
    'x\n',
    false,
  ])
  expect(box.git('status', '--porcelain')).toBe('')
  expect([box.git('branch', '--format=%(refname:short)'), copiesOf(box)]).toEqual(['main\nolder\n', []])
  expect(box.git('log', '-1', '--format=%p').trim()).toContain(' ')
  expect(box.run(['pipeline', 'accept', id]).stderr).toContain('was accepted')
  expect(box.run(['pipeline', 'show', id]).stdout).toMatch(/next +accepted/)
})

test('without a repository, a commit or a model it says what to do, and leaves nothing behind', async () => {
  const box = open(CASES.failing)
  const asked = vendor.requests.length
  box.configure('')
  const ran = (...args: string[]) => box.run(['build', 'x', ...args])
  expect(ran()).toMatchObject({ code: 4, stderr: expect.stringContaining('No model is set up.') })
  const model = ['--model', 'rehearsal:none.toml']
  expect(ran(...model, '--mode', 'read-only')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('read-only'),
  })
  expect(ran('--rounds', '21')).toMatchObject({ code: 2, stderr: expect.stringContaining('0 to 20') })
  expect(box.run(['build'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('What should be built?'),
  })
  box.write('none.toml', '[[answer]]\ntext = "x"\n')
  rmSync(join(box.workspace, '.git'), { recursive: true })
  expect(ran(...model)).toMatchObject({ code: 2, stderr: expect.stringContaining('git init') })
  box.git('init', '-q')
  const part = join(box.workspace, 'part')
  box.write('part/.kogu/config.toml', '')
  expect(box.run(['build', 'x', '--model', 'rehearsal:../none.toml'], { cwd: part })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`--cwd ${box.workspace}`),
  })
  expect(ran(...model)).toMatchObject({ code: 2, stderr: expect.stringContaining('no commit') })
  expect([copiesOf(box), existsSync(join(box.workspace, '.kogu')), vendor.requests.length]).toEqual([
    [],
    false,
    asked,
  ])
})

test('the report says how each check ended, and that nothing was tested', () => {
  const heads = ['build: passed in 1.0 s', 'type_check: failed in 1.0 s', 'test: skipped. No command found.']
  const printed = '\n  lint: passed in 1.0 s'
  expect(headsOf(`${heads[0]}\nlint: skipped. No\n${heads[1]}${printed}\n${heads[2]}`)).toEqual(heads)
})

test('the documentation gives the whole policy', () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/build.md'), 'utf8')
  const [, block = ''] = /```toml\n([\s\S]*?)```/.exec(text) ?? []
  const { permissions } = parse(block) as unknown as { permissions: { rules: Record<string, unknown>[] } }
  const written = permissions.rules.map(({ tool, ...rule }) => ({ ...rule, tool: [tool].flat() }))
  expect(written).toEqual(RULES.map(rule => ({ ...rule, decision: 'allow' })))
})
