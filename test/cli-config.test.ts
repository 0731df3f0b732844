import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { onTerminal, python } from './support/terminal.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

const FILE = '# mine\n[limits] # of one run\nmax_turns = 5\n'
const own = (): string => join(box.home, 'config/kogu/config.toml')

describe('kogu config set and unset', () => {
  test('change the file of the person and leave its comments alone', () => {
    box.configure(FILE)
    expect(box.run(['config', 'set', 'limits.max_cost', '0.5'])).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(own(), 'utf8')).toBe(`${FILE}max_cost = 0.5\n`)
    expect(box.json(['config', 'get', 'limits.max_cost'])).toMatchObject({ value: 0.5 })
    expect(box.run(['config', 'unset', 'limits.max_cost']).code).toBe(0)
    expect(readFileSync(own(), 'utf8')).toBe(FILE)
    expect(box.run(['config', 'unset', 'limits.max_cost']).code).toBe(9)
    const recorded = box.json(['audit', 'list']).filter((event: { type: string }) => event.type === 'note')
    expect(JSON.stringify(recorded)).toContain('config-set')
  })

  test('refuse what is no setting, what nothing reads, and what the schema does not take', () => {
    box.configure(FILE)
    const refused = [
      { args: ['limits.max_turn', '3'], code: 3, says: "Did you mean 'max_turns'?" },
      { args: ['limits.max_turns', 'many'], code: 3, says: 'limits.max_turns' },
      { args: ['ui.theme', 'dark'], code: 2, says: 'has no effect' },
      { args: ['providers.anthropic.api_key', 'sk-secret-0123456789'], code: 3, says: 'api_key' },
    ]
    for (const { args, code, says } of refused) {
      const ran = box.run(['config', 'set', ...args])
      expect([args[0], ran.code, ran.stderr]).toEqual([args[0], code, expect.stringContaining(says)])
    }
    expect(readFileSync(own(), 'utf8')).toBe(FILE)
  })

  test('refuse with exit code 10 where the text around it would have to be written anew', () => {
    const inline = 'limits = { max_turns = 5 }\n'
    box.configure(inline)
    const ran = box.run(['config', 'set', 'limits.max_cost', '1'])
    expect([ran.code, ran.stderr]).toEqual([10, expect.stringContaining('kogu config edit')])
    expect(readFileSync(own(), 'utf8')).toBe(inline)
  })

  test('in a project say what does not count there, and that it needs trust', () => {
    const project = ['--project']
    expect(box.run(['config', 'set', 'server.port', '1', ...project]).code).toBe(2)
    const ran = box.run(['config', 'set', 'limits.max_turns', '900', ...project])
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('kogu config trust')])
    expect(box.read('.kogu/config.toml')).toBe('[limits]\nmax_turns = 900\n')
    box.run(['config', 'set', 'limits.max_turns', '3', '--local'])
    const hidden = box.run(['config', 'set', 'limits.max_turns', '7'])
    expect(hidden.stderr).toContain('.kogu/local.toml overrides it with 3')
  })

  test('keep the mode of the file, and a link to it', () => {
    const real = box.write('dotfiles/kogu.toml', FILE)
    chmodSync(real, 0o640)
    box.configure('')
    symlinkSync(real, join(box.home, 'config/kogu/config.work.toml'))
    const link = join(box.home, 'config/kogu/config.work.toml')
    expect(box.run(['config', 'set', 'mode', 'auto', '--config', link]).code).toBe(0)
    expect(readFileSync(real, 'utf8')).toContain('mode = "auto"')
    expect(statSync(real).mode & 0o777).toBe(0o640)
  })

  test('are not for agents', () => {
    box.configure(FILE)
    const ran = box.run(['config', 'set', 'mode', 'auto'], { env: { KOGU_CALL: 'call_1' } })
    expect([ran.code, readFileSync(own(), 'utf8')]).toEqual([2, FILE])
  })
})

describe.skipIf(!python)('kogu config edit', () => {
  test('opens the editor of the person and checks what they wrote', () => {
    box.configure(FILE)
    const editor = box.write('editor', '#!/bin/sh\necho "max_tums = 1" >> "$2"\n')
    chmodSync(editor, 0o755)
    const { code, shown } = onTerminal(box, ['config', 'edit'], [], { EDITOR: `${editor} --wait` })
    // A misspelt limit is a warning; a broken file stops every command.
    expect(code).toBe(0)
    expect(readFileSync(own(), 'utf8')).toBe(`${FILE}max_tums = 1\n`)
    expect(shown).not.toContain('error:')
    writeFileSync(editor, '#!/bin/sh\necho "[" >> "$2"\n')
    const broken = onTerminal(box, ['config', 'edit'], [], { EDITOR: `${editor} --wait` })
    expect([broken.code, broken.shown]).toEqual([3, expect.stringContaining('kogu config edit')])
  })
})

test('the doctor repairs what needs no decision, and says what it did', () => {
  box.configure('mode = "auto"\n')
  chmodSync(own(), 0o666)
  const found = box.json(['doctor'])
  const check = found.checks.find((each: { remedy?: string }) => each.remedy?.startsWith('chmod'))
  expect(check).toMatchObject({ id: 'config', status: 'warn' })
  expect(found.checks).toContainEqual(
    expect.objectContaining({ id: 'database', summary: expect.stringContaining('embedded PostgreSQL') }),
  )
  expect(found.checks).toContainEqual(expect.objectContaining({ id: 'models', status: 'ok' }))
  expect(statSync(own()).mode & 0o777).toBe(0o666)
  const fixed = box.json(['doctor', '--fix'])
  expect(fixed.fixed).toMatchObject([
    { id: 'config', done: expect.stringContaining('is now writable only by you') },
  ])
  expect(statSync(own()).mode & 0o777).toBe(0o600)
  expect(fixed.checks.some((each: { remedy?: string }) => each.remedy?.startsWith('chmod'))).toBe(false)
})
