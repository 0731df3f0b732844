import { describe, expect, test } from 'vitest'
import { protectedReason } from './protected-paths.ts'

const context = { home: '/home/kim', workspace: '/home/kim/shop' }

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
    '/home/kim/shop/.roo/mcp.json',
    '/home/kim/shop/app/.kiro/hooks/x',
    '/home/kim/shop/crush.json',
    '/home/kim/shop/.aider.conf.yml',
    '/home/kim/shop/.hg/hgrc',
    '/home/kim/shop/.jj/repo/config.toml',
    '/home/kim/shop/.helix/config.toml',
    '/home/kim/shop/.nvim.lua',
    '/home/kim/shop/.gvimrc',
    '/home/kim/shop/.dir-locals.el',
    '/home/kim/shop/.Rprofile',
    '/home/kim/shop/.irbrc',
    '/home/kim/shop/.pythonrc.py',
    '/home/kim/shop/.yarnrc.yml',
    '/home/kim/shop/.yarnrc',
    '/home/kim/shop/.autoenv',
    '/home/kim/shop/.autoenv.zsh',
    '/home/kim/shop/.ocamlinit',
    '/home/kim/shop/.perldb',
    '/home/kim/shop/.byebugrc',
    '/home/kim/shop/.rdbgrc',
    '/home/kim/shop/.local.vimrc',
    '/home/kim/shop/.utoprc',
    '/home/kim/shop/node_modules/x/.envrc',
    '/home/kim/shop/.vscode/node_modules/x',
    '/home/kim/shop/node_modules/x/.git/config',
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
    '/home/kim/shop/.husky/pre-commit',
    '/home/kim/shop/package.json',
    '/home/kim/shop/conftest.py',
    '/home/kim/shop/.tool-versions',
    '/home/kim/shop/.gitattributes',
    '/home/kim/shop/src/hooks/use-x.ts',
    '/home/kim/shop/src/objects/config',
    '/home/kim/shop/node_modules/x/.vscode/settings.json',
  ])('%j is not', path => {
    expect(protectedReason(path, context)).toBeUndefined()
  })

  test('a workspace may itself lie below a folder of such a name', () => {
    const inside = { home: '/home/kim', workspace: '/home/kim/.claude/worktrees/a' }
    expect(protectedReason('/home/kim/.claude/worktrees/a/src/x.ts', inside)).toBeUndefined()
    expect(protectedReason('/home/kim/.claude/worktrees/a/.git/config', inside)).toBeDefined()
  })
})
