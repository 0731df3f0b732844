import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Access } from '../../src/core/access.ts'
import { createTestWorkspace, snapshot, type TestWorkspace } from '../../src/workspace/testing.ts'
import { AS_NOBODY, NOBODY, noOrdinaryUser } from '../support/skips.ts'

// Issue 3: whatever path is asked for, changes stay inside the scope and off protected names.

let base: string
let outside: string
let workspace: TestWorkspace
const at = (path: string): string => join(workspace.root, path)

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-attack-')))
  outside = join(base, 'outside')
  mkdirSync(join(base, 'workspace'))
  mkdirSync(outside)
  writeFileSync(join(outside, 'target.txt'), 'outside')
  workspace = createTestWorkspace({ root: join(base, 'workspace') })
})
afterEach(async () => {
  await workspace.close()
  rmSync(base, { recursive: true, force: true })
})

async function expectUntouched(work: () => Promise<unknown>, code?: string): Promise<void> {
  const before = [snapshot(outside), snapshot(workspace.root)]
  await expect(work()).rejects.toMatchObject({ code: code ?? expect.any(String) })
  expect([snapshot(outside), snapshot(workspace.root)]).toEqual(before)
}

describe('ways out of the scope', () => {
  const links: [string, string, string][] = [
    ['the file itself', 'link.txt', 'link.txt'],
    ['a folder', 'dir', 'dir/target.txt'],
    ['a folder in the middle', 'a/dir', 'a/dir/target.txt'],
  ]
  test.each(links)('a link to the outside as %s', async (_, link, path) => {
    mkdirSync(at('a'))
    symlinkSync(link.endsWith('.txt') ? join(outside, 'target.txt') : outside, at(link))
    await expectUntouched(() => workspace.write(path, 'x'), 'forbidden')
    await expectUntouched(() => workspace.write(path.replace('target', 'new'), 'x'), 'forbidden')
  })

  test('a dangling link to the outside creates nothing there, nor do relative and chained ones', async () => {
    symlinkSync(join(outside, 'not-there.txt'), at('dangling'))
    symlinkSync('../outside/not-there.txt', at('relative'))
    symlinkSync('relative', at('chained'))
    symlinkSync(join(outside, 'new-folder'), at('folder'))
    for (const path of ['dangling', 'relative', 'chained', 'folder/x.txt']) {
      await expectUntouched(() => workspace.write(path, 'x'), 'forbidden')
    }
  })

  test('dots, absolute paths and a neighbour whose name begins like the workspace', async () => {
    mkdirSync(join(base, 'workspace-two'))
    const paths = [
      '../outside/x',
      'a/../../outside/x',
      join(outside, 'x'),
      '../workspace-two/x',
      `${outside}/../outside/x`,
    ]
    for (const path of paths) await expectUntouched(() => workspace.write(path, 'x'), 'forbidden')
    expect(readdirSync(join(base, 'workspace-two'))).toEqual([])
  })

  test('loops of links and very long chains end with an error', async () => {
    symlinkSync('loop-b', at('loop-a'))
    symlinkSync('loop-a', at('loop-b'))
    symlinkSync('self/x', at('self'))
    symlinkSync('end', at('chain-0'))
    for (let n = 1; n < 60; n += 1) symlinkSync(`chain-${n - 1}`, at(`chain-${n}`))
    for (const path of ['loop-a', 'loop-a/x', 'self', 'chain-59'])
      await expectUntouched(() => workspace.write(path, 'x'))
    await workspace.write('chain-20', 'x')
    expect(readFileSync(at('end'), 'utf8')).toBe('x')
  })

  test('removing and moving through links', async () => {
    symlinkSync(outside, at('dir'))
    writeFileSync(at('mine.txt'), 'mine')
    await expectUntouched(() => workspace.remove('dir/target.txt'), 'forbidden')
    await expectUntouched(() => workspace.move('dir/target.txt', 'stolen.txt'), 'forbidden')
    await expectUntouched(() => workspace.move('mine.txt', 'dir/mine.txt'), 'forbidden')
    await expectUntouched(() => workspace.move('mine.txt', '../outside/mine.txt'), 'forbidden')
    // The link itself is the workspace's own.
    await workspace.remove('dir')
    expect(existsSync(at('dir'))).toBe(false)
    expect(readdirSync(outside)).toEqual(['target.txt'])
  })
})

describe('paths that are not files', () => {
  test.each(['', 'a\0b', 'dir/', 'dir/.', 'dir/..', '.', '\ud800'])('%j cannot be written', async path => {
    mkdirSync(at('dir'))
    await expectUntouched(() => workspace.write(path, 'x'))
  })

  test.each([
    '/proc/self/root/tmp/no-such-file-of-kogu',
    '/proc/self/environ',
    '/proc/self/cwd/x',
    '/dev/fd/1',
    '/dev/null',
    '/dev/shm/x',
    '/sys/kernel/x',
  ])('%s is neither read nor written, not even through a link', async path => {
    const all: Access[] = [
      { kind: 'file_read', path },
      { kind: 'file_write', path },
    ]
    const permit = { writeScope: ['/'], judged: (each: string) => each }
    const { files } = workspace.call(all, { permit })
    await expect(files.open(path)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(files.update(path, () => Buffer.from('x'))).rejects.toMatchObject({ code: 'forbidden' })
    symlinkSync(path, at('link'))
    await expect(workspace.call([{ kind: 'file_read', path: 'link' }]).files.open('link')).rejects.toThrow()
  })

  test('pipes, sockets and folders are refused at once, without hanging', async () => {
    execFileSync('mkfifo', [at('pipe')])
    const server = createServer().listen(at('socket'))
    await new Promise(resolve => server.once('listening', resolve))
    mkdirSync(at('dir'))
    for (const path of ['pipe', 'socket', 'dir']) {
      await expect(workspace.write(path, 'x')).rejects.toMatchObject({ code: 'invalid_input' })
      const { files } = workspace.call([{ kind: 'file_read', path }])
      await expect(files.open(path)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    await expect(workspace.remove('pipe')).rejects.toMatchObject({ code: 'invalid_input' })
    server.close()
  })

  test('a device is refused', async context => {
    if (spawnSync('mknod', [at('null'), 'c', '1', '3']).status !== 0) return context.skip()
    await expect(workspace.write('null', 'x')).rejects.toThrow('device')
    await expect(workspace.call([{ kind: 'file_read', path: 'null' }]).files.open('null')).rejects.toThrow(
      'device',
    )
  })
})

describe('what the engine decided', () => {
  test('protected paths are refused however they are spelled', async () => {
    mkdirSync(at('.git/hooks'), { recursive: true })
    mkdirSync(at('sub'))
    symlinkSync('../.git', at('sub/innocent'))
    const paths = [
      '.git/hooks/pre-commit',
      './.git//config',
      'sub/../.git/config',
      'sub/innocent/config',
      '.kogu/config.toml',
    ]
    for (const path of paths) await expectUntouched(() => workspace.write(path, 'x'), 'forbidden')
    await expectUntouched(() => workspace.remove('.git'), 'forbidden')
    await expectUntouched(() => workspace.move('sub', '.git/hooks/x'), 'forbidden')
  })

  test('a tool that declared a read may not write, and one that declared another file may not either', async () => {
    writeFileSync(at('a.txt'), 'a')
    const read = workspace.call([{ kind: 'file_read', path: 'a.txt' }])
    await expectUntouched(() => read.files.update('a.txt', () => Buffer.from('x')), 'forbidden')
    await expectUntouched(() => read.files.remove('a.txt'), 'forbidden')
    const other = workspace.call([{ kind: 'file_write', path: 'b.txt' }])
    await expectUntouched(() => other.files.update('a.txt', () => Buffer.from('x')), 'forbidden')
  })

  test('a link that was changed after the judgement is refused, for reading too', async () => {
    writeFileSync(at('harmless.txt'), 'harmless')
    writeFileSync(at('.env'), 'SECRET=1')
    symlinkSync('harmless.txt', at('link'))
    const call = workspace.call([
      { kind: 'file_read', path: 'link' },
      { kind: 'file_write', path: 'link' },
    ])
    rmSync(at('link'))
    symlinkSync('.env', at('link'))
    await expect(call.files.open('link')).rejects.toMatchObject({ code: 'conflict' })
    await expectUntouched(() => call.files.update('link', () => Buffer.from('x')), 'conflict')
  })

  test('a file met on the way is read only where the engine lets it', async () => {
    writeFileSync(at('.env'), 'SECRET=1')
    const { files } = workspace.call([], { permit: { mayRead: path => !path.endsWith('.env') } })
    await expect(files.open('.env')).rejects.toMatchObject({ code: 'denied' })
  })

  test('an empty scope changes nothing', async () => {
    const { files } = workspace.call([{ kind: 'file_write', path: 'a.txt' }], { permit: { writeScope: [] } })
    await expectUntouched(() => files.update('a.txt', () => Buffer.from('x')), 'forbidden')
  })

  test('an undo store behind a link is refused', () => {
    mkdirSync(join(base, 'evil'))
    symlinkSync(outside, join(base, 'evil/.kogu'))
    expect(() => createTestWorkspace({ root: join(base, 'evil') })).toThrow('link')
  })
})

function runAsNobody(program: string): { stdout: string } {
  const [file = '', ...words] = [...AS_NOBODY, process.execPath, '--input-type=module', '-e', program]
  return spawnSync(file, words, { encoding: 'utf8' })
}

describe.runIf(process.geteuid?.() === 0)('owners and modes', () => {
  test('a file keeps its owner, group and mode; new content is never readable by more people in between', async () => {
    writeFileSync(at('theirs.txt'), 'old')
    chownSync(at('theirs.txt'), NOBODY, NOBODY)
    chmodSync(at('theirs.txt'), 0o604)
    await workspace.write('theirs.txt', 'new')
    const { uid, gid, mode } = statSync(at('theirs.txt'))
    expect([uid, gid, mode & 0o7777]).toEqual([NOBODY, NOBODY, 0o604])
  })

  test.skipIf(noOrdinaryUser !== '')(
    `an ordinary user edits files of others where the system lets them, without keeping setuid${noOrdinaryUser}`,
    () => {
      chmodSync(base, 0o755)
      chmodSync(workspace.root, 0o777)
      writeFileSync(at('shared.txt'), 'old')
      chmodSync(at('shared.txt'), 0o6666)
      writeFileSync(at('private.txt'), 'old', { mode: 0o600 })
      rmSync(at('.kogu'), { recursive: true })
      const testing = join(import.meta.dirname, '../../src/workspace/testing.ts')
      const program = `
      const { createTestWorkspace } = await import(${JSON.stringify(testing)})
      const workspace = createTestWorkspace({ root: ${JSON.stringify(workspace.root)} })
      await workspace.write('shared.txt', 'by nobody')
      const refused = await workspace.write('private.txt', 'by nobody').catch(error => error.code)
      console.log(refused)`
      const child = runAsNobody(program)
      expect(child.stdout.trim()).toBe('EACCES')
      expect([readFileSync(at('shared.txt'), 'utf8'), readFileSync(at('private.txt'), 'utf8')]).toEqual([
        'by nobody',
        'old',
      ])
      const { uid, mode } = lstatSync(at('shared.txt'))
      expect([uid, (mode & 0o7777).toString(8)]).toEqual([NOBODY, '666'])
    },
  )

  test.skipIf(noOrdinaryUser !== '')(
    `undo as an ordinary user gives no file of theirs the setuid of another's${noOrdinaryUser}`,
    () => {
      chmodSync(base, 0o755)
      chmodSync(workspace.root, 0o777)
      writeFileSync(at('tool'), 'old')
      chmodSync(at('tool'), 0o4755)
      chownSync(workspace.root, NOBODY, NOBODY)
      rmSync(at('.kogu'), { recursive: true })
      const source = join(import.meta.dirname, '../../src/workspace')
      const child = runAsNobody(`
        const { createTestWorkspace } = await import(${JSON.stringify(join(source, 'testing.ts'))})
        const { planUndo } = await import(${JSON.stringify(join(source, 'undo/undo-plan.ts'))})
        const { applyUndo } = await import(${JSON.stringify(join(source, 'undo/undo-apply.ts'))})
        const { undo, write } = createTestWorkspace({ root: ${JSON.stringify(workspace.root)} })
        await write('tool', 'new', 'write')
        const call = { id: 'undo', run: 'run', tool: 'undo' }
        await applyUndo(undo, await planUndo(undo, { calls: ['write'] }), { call, mayChange: () => true })
        console.log('undone')`)
      expect(child.stdout.trim()).toBe('undone')
      const { uid, mode } = lstatSync(at('tool'))
      expect([readFileSync(at('tool'), 'utf8'), uid, (mode & 0o7777).toString(8)]).toEqual([
        'old',
        NOBODY,
        '755',
      ])
    },
  )

  test.skipIf(noOrdinaryUser !== '')(
    `a folder that cannot be emptied is not removed in part${noOrdinaryUser}`,
    () => {
      chmodSync(base, 0o755)
      mkdirSync(at('top/closed'), { recursive: true })
      writeFileSync(at('top/closed/file'), 'x')
      chmodSync(at('top/closed'), 0o555)
      for (const path of ['.', 'top', 'top/closed', 'top/closed/file']) chownSync(at(path), NOBODY, NOBODY)
      rmSync(at('.kogu'), { recursive: true, force: true })
      const testing = join(import.meta.dirname, '../../src/workspace/testing.ts')
      const program = `
      const { createTestWorkspace } = await import(${JSON.stringify(testing)})
      const workspace = createTestWorkspace({ root: ${JSON.stringify(workspace.root)} })
      console.log(await workspace.remove('top').catch(error => error.message))`
      const child = runAsNobody(program)
      expect(child.stdout).toContain('not writable, so nothing was removed')
      expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'top'])
      expect(readFileSync(at('top/closed/file'), 'utf8')).toBe('x')
    },
  )
})
