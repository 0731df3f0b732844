import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noApprover } from '../core/approval.ts'
import { fullAuthority, narrow } from '../core/authority.ts'
import { addCall, addLabel, createRun, type Run, spendMoney } from '../core/run.ts'
import { countCall } from '../core/run-limits.ts'
import { createSeal } from '../core/seal.ts'
import type { Label } from '../core/tool.ts'
import { loadRun, type RunsFolder, saveRun } from './runs.ts'

const options = {
  authority: fullAuthority('/w', 'ask'),
  approver: noApprover('this is a test'),
  clock: { now: () => 0, elapsed: () => 0 },
}
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kogu-runs-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
  rmSync(`${directory}.key`, { force: true })
})

const folder = (): RunsFolder => ({ directory, seal: createSeal(`${directory}.key`) })

const withoutFiles = ({ kept: _, spending: __, ...run }: Run): Run => run
const web = (source: string): Label => ({ origin: 'web', trusted: false, source })

describe('labels', () => {
  test('are on the disk before the result is returned, and other processes of the run see them', async () => {
    const [one, other] = await Promise.all([loadRun(folder(), 'r', options), loadRun(folder(), 'r', options)])
    addLabel(one, web('a.example'))
    addLabel(other, web('b.example'))
    addLabel(one, web('a.example'))
    other.kept?.refresh(other.labels)
    one.kept?.refresh(one.labels)
    expect(other.labels.map(label => label.source).sort()).toEqual(['a.example', 'b.example'])
    expect(one.labels.map(label => label.source).sort()).toEqual(['a.example', 'b.example'])
    // Neither process has saved anything: both may be killed now.
    expect((await loadRun(folder(), 'r', options)).labels).toHaveLength(2)
    // A run that is saved afterwards takes none of them away.
    await saveRun(folder(), createRun('r', options))
    expect((await loadRun(folder(), 'r', options)).labels).toHaveLength(2)
  })

  test('that a crash cut off count as untrusted, and swallow nothing', async () => {
    writeFileSync(join(directory, 'r.labels'), '\n{"origin":"work')
    addLabel(await loadRun(folder(), 'r', options), web('a.example'))
    const { labels } = await loadRun(folder(), 'r', options)
    expect(labels).toEqual([{ origin: 'other', trusted: false, source: 'unreadable' }, web('a.example')])
  })

  test('of what is trusted are kept once, and sources beyond a thousand are not told apart', () => {
    const run = createRun('r', options)
    for (let n = 0; n < 3000; n += 1) {
      addLabel(run, { origin: 'workspace', trusted: true, source: `/w/${n}` })
      addLabel(run, web(`${n}.example`))
    }
    expect(run.labels.length).toBeLessThanOrEqual(1002)
  })
})

test('a run comes back with its receipts, partial views, folder and variables', async () => {
  const run = createRun('my-run.1', { ...options, isNamed: true })
  run.receipts.set('/w/a.txt', 'hash')
  run.partialViews.set('/w/b.txt', { sha256: 'hash', lines: [[0, 5]] })
  run.variables.set('EDITOR', 'vi')
  run.cwd = '/w/sub'
  await saveRun(folder(), run)
  expect(withoutFiles(await loadRun(folder(), 'my-run.1', options))).toEqual(run)
  expect(readdirSync(directory)).toEqual(['my-run.1.json'])
})

test('a run never comes back with more authority than it had, nor with calls it has used up', async () => {
  const agent = narrow(options.authority, {
    ...{ agent: 'helper', mode: 'read-only', tools: ['read_file'], hosts: ['example.com'], git: 'read-only' },
    ...{ commands: { profile: 'restricted', allowed: ['ls'] }, writeScope: ['/w/doc'] },
    ...{ limits: { calls: 3 }, confirm: true },
  })
  const run = createRun('r', { ...options, authority: agent })
  run.spent.calls = 2
  await saveRun(folder(), run)
  const later = await loadRun(folder(), 'r', options)
  expect([later.authority, later.spent]).toEqual([agent, { calls: 2, money: 0 }])
  const narrower = await loadRun(folder(), 'r', {
    ...options,
    authority: narrow(options.authority, { tools: [] }),
  })
  expect(narrower.authority).toEqual({ ...agent, tools: [] })
})

describe('what a run has used up', () => {
  const limited = { ...options, authority: narrow(options.authority, { limits: { calls: 3, money: 1 } }) }

  test('is counted by all its processes together, and not forgotten by one that is killed or saves late', async () => {
    const [one, other] = await Promise.all([loadRun(folder(), 'r', limited), loadRun(folder(), 'r', limited)])
    expect([addCall(one), addCall(other), addCall(one)]).toEqual([1, 2, 3])
    spendMoney(one, 0.25)
    spendMoney(other, 0.5)
    expect(other.spent).toEqual({ calls: 3, money: 0.75 })
    // Killed before it saved anything; the other one, which saves now, has not seen its last call.
    addCall(one)
    await saveRun(folder(), other)
    expect((await loadRun(folder(), 'r', limited)).spent).toEqual({ calls: 4, money: 0.75 })
  })

  test('refuses the call after the last one, whichever process makes it', async () => {
    const processes = await Promise.all([1, 2, 3, 4].map(() => loadRun(folder(), 'r', limited)))
    const refused = processes.map(run => countCall(run, options.clock)?.error.message)
    expect(refused).toEqual([
      undefined,
      undefined,
      undefined,
      "The run 'r' has reached its limit of 3 calls.",
    ])
    spendMoney(await loadRun(folder(), 's', limited), 1)
    const later = countCall(await loadRun(folder(), 's', limited), options.clock)
    expect(later?.error.message).toBe("The run 's' has reached its cost limit of 1.")
  })

  test('counts although a checkout put other files in the place of its own', async () => {
    const run = await loadRun(folder(), 'r', limited)
    for (let n = 0; n < 3; n += 1) addCall(run)
    addLabel(run, web('a.example'))
    await saveRun(folder(), run)
    rmSync(join(directory, 'r.spent'))
    writeFileSync(join(directory, 'r.labels'), '')
    const later = await loadRun(folder(), 'r', limited)
    expect(countCall(later, options.clock)?.error.message).toContain('has reached its limit of 3 calls')
    expect(later.labels).toEqual([web('a.example')])
  })

  test('includes the time in which no process had it open', async () => {
    let now = 1_000_000
    // Each process has its own measure of time that has passed.
    const clock = (begun: number) => ({ now: () => now, elapsed: () => now - begun })
    const timed = narrow(options.authority, { limits: { timeMs: 500 } })
    const open = () => loadRun(folder(), 'r', { ...options, authority: timed, clock: clock(now) })
    await saveRun(folder(), await open())
    now += 400
    const second = await open()
    expect(countCall(second, clock(now))).toBeUndefined()
    await saveRun(folder(), second)
    now += 100
    expect(countCall(await open(), clock(now))?.error.message).toBe(
      "The run 'r' has reached its time limit of 500 ms.",
    )
    // A date that was set back is no reason to stop, nor to go on for longer than a run may.
    now -= 900
    expect(countCall(await open(), clock(now))).toBeUndefined()
  })

  test('that cannot be kept lets no call be made', async () => {
    const run = await loadRun(folder(), 'r', limited)
    mkdirSync(join(directory, 'r.spent'))
    expect(countCall(run, options.clock)?.error).toMatchObject({
      code: 'failed',
      message: expect.stringContaining('cannot be counted'),
    })
  })
})

test('an id that was never used is a new run', async () => {
  expect(withoutFiles(await loadRun(folder(), 'new', options))).toEqual(
    createRun('new', { ...options, isNamed: true }),
  )
})

test.each(['', '.hidden', '../up', 'a/b', 'a\0b', 'x'.repeat(65), 'ä'])('the id %j is refused', async id => {
  await expect(loadRun(folder(), id, options)).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(saveRun(folder(), createRun(id, options))).rejects.toMatchObject({ code: 'invalid_input' })
  expect(readdirSync(directory)).toEqual([])
})

test('a damaged file is reported, not taken for an empty run', async () => {
  writeFileSync(join(directory, 'x.json'), folder().seal.add('{"format":1,"receipts":{}}'))
  await expect(loadRun(folder(), 'x', options)).rejects.toThrow('cannot be read')
})

test('a run that came with the workspace is not taken for one of ours', async () => {
  await saveRun({ directory, seal: createSeal(`${directory}.other`) }, createRun('x', options))
  rmSync(`${directory}.other`)
  await expect(loadRun(folder(), 'x', options)).rejects.toThrow('cannot be read')
})
