import { describe, expect, test } from 'vitest'
import { analyzePath, foldPath, isSystemPath, protectedReason } from './paths.ts'

const context = { home: '/home/kim', workspace: '/home/kim/shop' }

describe('sensitivity', () => {
  test.each([
    ['/home/kim/shop/.env', 8],
    ['/home/kim/shop/.ENV', 8],
    ['/home/kim/shop/.env.local', 8],
    ['/home/kim/shop/.env.', 8],
    ['/home/kim/shop/.e\u200Bnv', 8],
    ['/home/kim/shop/．env', 8],
    ['/home/kim/shop/.env.example', 0],
    ['/home/kim/shop/secrets.yaml', 9],
    ['/home/kim/shop/credentials.json', 9],
    ['/home/kim/shop/server.pem', 9],
    ['/home/kim/shop/deploy_rsa', 10],
    ['/home/kim/.ssh', 10],
    ['/home/kim/.ssh/config', 10],
    ['/home/kim/.aws/credentials', 10],
    ['/home/kim/.config/gcloud/x.db', 10],
    ['/home/kim/.config/app.toml', 5],
    ['/home/kim/.gitconfig', 4],
    ['/home/kim/shop/.npmrc', 7],
    ['/home/kim/shop/data.sqlite', 6],
    ['/home/kim/.bash_history', 6],
    ['/etc/passwd', 8],
    ['/etc/shadow', 10],
    ['/etc/shadow-', 10],
    ['/etc/sudoers.d/kim', 9],
    ['/etc/hosts', 5],
    ['/proc/self/environ', 8],
    ['/home/kim/shop/.github/workflows/ci.yml', 4],
    ['/home/kim/shop/src/environment.ts', 0],
    ['/home/kim/shop/src/key.ts', 0],
    ['/home/kim/shop/README.md', 0],
  ])('of %j is %i', (path, level) => {
    expect(analyzePath(path, context).sensitivity).toBe(level)
  })
})

describe('protected paths', () => {
  test.each([
    '/home/kim/shop/.git/hooks/pre-commit',
    '/home/kim/shop/.git/config',
    '/home/kim/shop/.git',
    '/home/kim/shop/.GIT/config',
    '/home/kim/shop/.git./config',
    '/home/kim/shop/.gi\u200Ct/config',
    '/home/kim/shop/vendor/lib/.git/hooks/x',
    '/home/kim/shop/.kogu/config.toml',
    '/home/kim/shop/kogu.toml',
    '/home/kim/shop/.bashrc',
    '/home/kim/shop/sub/.zshrc',
    '/home/kim/shop/.vscode/tasks.json',
    '/home/kim/shop/.mcp.json',
    '/home/kim/shop/.claude/settings.json',
    '/etc/hosts',
    '/usr/bin/ls',
  ])('%j', path => {
    expect(protectedReason(path, context)).toBeDefined()
  })

  test.each([
    '/home/kim/shop/src/a.ts',
    '/home/kim/shop/.gitignore',
    '/home/kim/shop/.github/x',
    '/home/kim/shop/git/config',
    '/home/kim/shop/.prettierrc',
  ])('%j is not', path => {
    expect(protectedReason(path, context)).toBeUndefined()
  })

  test('a workspace may itself lie below a folder of such a name', () => {
    const inside = { home: '/home/kim', workspace: '/home/kim/.claude/worktrees/a' }
    expect(protectedReason('/home/kim/.claude/worktrees/a/src/x.ts', inside)).toBeUndefined()
    expect(protectedReason('/home/kim/.claude/worktrees/a/.git/config', inside)).toBeDefined()
  })

  test('source folders that images keep below /usr are not the system', () => {
    expect(isSystemPath('/usr/src/app/index.ts')).toBe(false)
    expect(isSystemPath('/usr/src')).toBe(true)
    expect(isSystemPath('/usr/lib/x')).toBe(true)
    expect(isSystemPath('/home/usr/x')).toBe(false)
  })
})

test('folding leaves ordinary paths alone but for their case', () => {
  expect(foldPath('/Home/Kim/a.b-c_d')).toBe('/home/kim/a.b-c_d')
  expect(foldPath('/a/b. ')).toBe('/a/b')
  expect(foldPath('/a/..x')).toBe('/a/..x')
})
