import { describe, expect, test } from 'vitest'
import { readGitConfig, steeringChange } from './git-config.ts'

describe("git's configuration syntax", () => {
  test('is read as git reads it', () => {
    const text = [
      '# comment',
      '[core] bare = false ; more',
      '\tEditor = "a # b" c\\',
      ' d # end',
      '\tflag',
      '[Remote "My \\"Own\\""]',
      'url = x\\ty',
      'url = z',
      '[branch.Main]merge=refs/heads/main',
    ].join('\r\n')
    expect(Object.fromEntries(readGitConfig(text.replace('\\\r\n', '\\\n')) ?? [])).toEqual({
      'core.bare': ['false'],
      'core.editor': ['a # b c d'],
      'core.flag': ['true'],
      'remote.my "own".url': ['x\ty', 'z'],
      'branch.main.merge': ['refs/heads/main'],
    })
  })

  test.each([
    'key = 1',
    '[core',
    '[core]\nx = "open',
    '[core]\nx = \\q',
    '[core]\n= 1',
    '[core]\nflag more',
    '\0',
  ])('what git would not read is refused: %j', text => {
    expect(readGitConfig(text)).toBeNull()
    expect(steeringChange('', text)).toContain('cannot be read')
  })
})

describe('settings that make git run programs', () => {
  test.each([
    ['[core]fsmonitor=x', 'core.fsmonitor'],
    ['[CORE]\nHooksPath = x', 'core.hookspath'],
    ['[core]\nhooksPath', 'core.hookspath'],
    ['[filter "x"]clean=y', 'filter.x.clean'],
    ['[diff "a.b"]textconv=y', 'diff.a.b.textconv'],
    ['[merge "m"]driver=y', 'merge.m.driver'],
    ['[alias]ok=log\nst=!sh', 'alias.st'],
    ['[include]path=/x', 'include.path'],
    ['[includeIf "gitdir:/"]path=/x', 'includeif.gitdir:/.path'],
    ['[credential "https://x"]helper=y', 'credential.https://x.helper'],
    ['[gpg "ssh"]program=y', 'gpg.ssh.program'],
    ['[remote "o"]uploadpack=y', 'remote.o.uploadpack'],
    ['[remote "o"]url=ext::sh -c x', 'remote.o.url'],
    ['[url "x"]insteadOf=y', 'url.x.insteadof'],
    ['[submodule "m"]update=!x', 'submodule.m.update'],
  ])('%j adds %s', (text, key) => {
    expect(steeringChange('[core]\nbare=false\n', text)).toBe(key)
    // What was there before stays allowed; the same key with another value does not.
    expect(steeringChange(text, `${text}\n[user]\nname=k`)).toBeNull()
  })

  test('ordinary settings change freely, and one more value of a steering key is a change', () => {
    const ordinary =
      '[remote "o"]\nurl=https://x\n[branch "main"]\nremote=o\n[alias]\nst=status\n[user]\nname=k'
    expect(steeringChange('', ordinary)).toBeNull()
    expect(steeringChange('[include]path=a', '[include]path=a\npath=b')).toBe('include.path')
    expect(steeringChange('[include]path=a', '')).toBeNull()
  })
})
