import { describe, expect, test } from 'vitest'
import { readGitConfig, settingForPerson } from './git-config.ts'

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
    '[user]\nname = a\0b',
  ])('what git would not read is refused: %j', text => {
    expect(readGitConfig(text)).toBeNull()
    expect(settingForPerson('', text)).toContain('cannot be read')
  })
})

describe('settings that a command may not change', () => {
  test.each([
    ['[core]fsmonitor=x', 'core.fsmonitor'],
    ['[CORE]\nHooksPath = x', 'core.hookspath'],
    ['[core]\nhooksPath', 'core.hookspath'],
    ['[core]\nworktree=.', 'core.worktree'],
    ['[filter "x"]clean=y', 'filter.x.clean'],
    ['[diff "a.b"]textconv=y', 'diff.a.b.textconv'],
    ['[diff]external=y', 'diff.external'],
    ['[merge "m"]driver=y', 'merge.m.driver'],
    ['[alias]st=!sh', 'alias.st'],
    ['[alias]st=-c core.fsmonitor=x status', 'alias.st'],
    ['[include]path=/x', 'include.path'],
    ['[includeIf "gitdir:/"]path=/x', 'includeif.gitdir:/.path'],
    ['[credential "https://x"]helper=y', 'credential.https://x.helper'],
    ['[gpg "ssh"]program=y', 'gpg.ssh.program'],
    ['[gc]recentObjectsHook=y', 'gc.recentobjectshook'],
    ['[imap]tunnel=y', 'imap.tunnel'],
    ['[sendemail "a"]toCmd=y', 'sendemail.a.tocmd'],
    ['[rebase]instructionFormat=%n exec y', 'rebase.instructionformat'],
    ['[remote "o"]uploadpack=y', 'remote.o.uploadpack'],
    ['[remote "o"]receivepack=y', 'remote.o.receivepack'],
    ['[remote "o"]vcs=y', 'remote.o.vcs'],
    ['[remote "o"]proxy=y', 'remote.o.proxy'],
    ['[remote "o"]url=ext::sh -c x', 'remote.o.url'],
    ['[remote "o"]url=fd::17', 'remote.o.url'],
    ['[remote "o"]url=x://y', 'remote.o.url'],
    ['[remote "o"]url=ssh://-oProxyCommand=x/y', 'remote.o.url'],
    ['[remote "o"]url=kim@-oProxyCommand=x:y', 'remote.o.url'],
    ['[remote "o"]url=https://x\nurl=ext::y', 'remote.o.url'],
    ['[remote "o"]pushurl=ext::sh -c x', 'remote.o.pushurl'],
    ['[branch "main"]remote=ext::sh -c x', 'branch.main.remote'],
    ['[branch "main"]mergeoptions=--strategy=x', 'branch.main.mergeoptions'],
    ['[url "x"]insteadOf=y', 'url.x.insteadof'],
    ['[url "x"]pushInsteadOf=y', 'url.x.pushinsteadof'],
    ['[submodule "m"]update=!x', 'submodule.m.update'],
    ['[submodule "m"]url=ext::x', 'submodule.m.url'],
    ['[whatever]comes=next', 'whatever.comes'],
  ])('%j: %s', (text, key) => {
    expect(settingForPerson('[core]\nbare=false\n', text)).toBe(key)
    // What was there before stays; the same key with another value does not.
    expect(settingForPerson(text, `${text}\n[user]\nname=k`)).toBeNull()
  })

  test.each([
    '[remote "o"]\nurl=https://x/y\nfetch=+refs/heads/*:refs/remotes/o/*',
    '[remote "o"]\nurl=git@example.com:a/b.git',
    '[remote "o"]\nurl=ssh://git@example.com:22/a/b.git',
    '[remote "o"]\nurl=../other',
    '[remote "o"]\nurl=/srv/git/a.git\npushurl=file:///srv/git/a.git',
    '[branch "main"]\nremote=o\nmerge=refs/heads/main',
    '[branch "a.b/c"]\nremote=.\nrebase=true',
    '[user]\nname=k\nemail=k@x',
    '[submodule "lib"]\nurl=https://x\nactive=true\nupdate=rebase',
    '[pull]\nrebase=true\n[push]\ndefault=current\n[color]\nui=auto\n[color "diff"]\nold=red',
  ])('free to change: %j', text => {
    expect(settingForPerson('', text)).toBeNull()
  })

  test('one more value is a change, and a setting may go', () => {
    expect(settingForPerson('[include]path=a', '[include]path=a\npath=b')).toBe('include.path')
    expect(settingForPerson('[include]path=a', '')).toBeNull()
  })
})
