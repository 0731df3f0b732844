import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { onceApprover } from '../../src/core/approval.ts'
import type { CallResult } from '../../src/core/call.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// An approved line looks innocent, and the program that it starts is hostile: it leaves something behind that git or
// another tool runs later, outside the sandbox, when the person does their everyday work.

let box: TestRuntime
/** What hostile code leaves where it ran as the person. */
let proof: string
beforeEach(async () => {
  // Programs that a person approved before they ran.
  box = await openTestRuntime('[permissions]\ncommands = "ask"\n', onceApprover('the test'))
  proof = join(box.home, 'proof')
  box.write('a.txt', 'hello\n')
})
afterEach(() => box.close())

const call = (tool: string, input: Record<string, unknown>) => box.runtime.call({ tool, input })
const run = (command: string, brings: string[] = []) => call('run_command', { command, brings })

/** The line that a person would approve, with a script in the place of their tests. */
const runHostile = (script: string, line = 'bash test.sh') => {
  box.write('test.sh', script)
  return run(line)
}

/** What the person does afterwards; some of it fails, and that is not the point. */
const person = (folder: string, ...line: string[]) => {
  try {
    execFileSync(line[0] ?? '', line.slice(1), {
      cwd: join(box.workspace, folder),
      env: { PATH: process.env.PATH, HOME: box.home, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'ignore',
    })
  } catch {
    // The hostile program may well have broken the repository.
  }
}

const repository = () => {
  person('.', 'git', 'init', '-q', '-b', 'main')
  person('.', 'git', 'config', 'user.name', 'kim')
  person('.', 'git', 'config', 'user.email', 'k@x')
  person('.', 'git', 'add', '-A')
  person('.', 'git', 'commit', '-qm', 'one')
}

const refused = (result: CallResult, what = '') =>
  expect(result.error, what).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('none of its changes were kept'),
  })

const BARE = (folder: string) => `
mkdir -p ${folder}/objects ${folder}/refs
echo 'ref: refs/heads/main' > ${folder}/HEAD
printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "touch ${proof};false"\\n' > ${folder}/config
`

test.skipIf(noSandbox !== '')(
  `settings of editors and agents come with a branch, by git alone, when the question names each${noSandbox}`,
  async () => {
    repository()
    person('.', 'git', 'switch', '-qc', 'other')
    for (const path of ['.vscode/tasks.json', '.claude/settings.json']) box.write(path, '{}')
    person('.', 'git', 'add', '-A')
    person('.', 'git', 'commit', '-qm', 'two')
    box.write('kogu.toml', '')
    person('.', 'git', 'switch', '-qc', 'hostile')
    person('.', 'git', 'add', 'kogu.toml')
    person('.', 'git', 'commit', '-qm', 'three')
    person('.', 'git', 'switch', '-q', 'main')
    box.write('test.sh', 'true')
    refused(await run('git switch -q other && bash test.sh'))
    refused(await run('git switch -q hostile'))
    const all = ['.vscode/tasks.json', '.claude/settings.json']
    expect((await run('git switch -q other')).error?.message).toContain('named in "brings"')
    refused(await run('git switch -q other', ['.vscode/tasks.json']))
    refused(await run('git switch -q other && bash test.sh', all))
    refused(await run('git switch -q hostile', [...all, 'kogu.toml']))
    expect(await run('git switch -q other', all)).toMatchObject({ ok: true, data: { exit_code: 0 } })
    expect(existsSync(join(box.workspace, '.vscode/tasks.json'))).toBe(true)
  },
)

describe.skipIf(noSandbox !== '')(`what git brings is not what the line says${noSandbox}`, () => {
  const planted = () => ['.vscode/tasks.json', '.envrc'].filter(path => existsSync(join(box.workspace, path)))

  test('a repository by its shape, reached by cd, plants nothing', async () => {
    // As a clone brings it: ordinary files, whose settings lead out of the folder.
    const evil = join(box.home, 'evil')
    mkdirSync(join(evil, '.vscode'), { recursive: true })
    for (const path of ['.vscode/tasks.json', '.envrc']) writeFileSync(join(evil, path), 'x')
    person('.', 'git', 'init', '-q', '-b', 'main', evil)
    person('.', 'git', '-C', evil, 'add', '-f', '.')
    person('.', 'git', '-C', evil, '-c', 'user.name=k', '-c', 'user.email=k@x', 'commit', '-qm', 'one')
    cpSync(join(evil, '.git'), join(box.workspace, 'docs'), { recursive: true })
    rmSync(join(box.workspace, 'docs/hooks'), { recursive: true })
    writeFileSync(
      join(box.workspace, 'docs/config'),
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n',
    )
    for (const line of [
      'cd docs && git reset -q --hard',
      'cd docs && git checkout -qf main',
      'git -C docs reset --hard',
    ]) {
      refused(await run(line), line)
      refused(await run(line, ['.vscode/tasks.json', '.envrc']), line)
    }
    expect(planted()).toEqual([])
    // The same by hand, to see that git would have done it.
    person('docs', 'git', 'reset', '-q', '--hard')
    expect(planted()).toEqual(['.vscode/tasks.json', '.envrc'])
  })

  test('nor does a commit that a script made by plumbing', async () => {
    repository()
    const script = `blob=$(echo x | git hash-object -w --stdin)
git update-index --add --cacheinfo 100644,$blob,.vscode/tasks.json
git update-index --add --cacheinfo 100644,$blob,.envrc
git commit -qm planted`
    expect((await runHostile(script, 'git tag x; bash test.sh')).ok).toBe(true)
    refused(await run('git reset -q --hard'))
    refused(await run('git checkout -q HEAD -- .'))
    expect(planted()).toEqual([])
  })
})

describe.skipIf(noSandbox !== '')(`a bare repository is one by its shape${noSandbox}`, () => {
  test('the exploit works where nobody checks', async () => {
    box.write('test.sh', BARE('src'))
    person('.', 'bash', 'test.sh')
    person('src', 'git', 'status')
    expect(existsSync(proof)).toBe(true)
  })

  test.each(['src', 'deep/er', '.'])('no program makes one in %s', async folder => {
    refused(await runHostile(BARE(folder)))
    refused(await runHostile(BARE(folder), 'git init -q other; bash test.sh'))
    if (existsSync(join(box.workspace, folder))) person(folder, 'git', 'status')
    expect(existsSync(proof)).toBe(false)
  })

  test('nor piece by piece', async () => {
    mkdirSync(join(box.workspace, 'src/objects'), { recursive: true })
    expect((await runHostile(BARE('src').replace(/^echo.*$/m, ''))).ok).toBe(true)
    refused(await runHostile("echo 'ref: refs/heads/main' > src/HEAD"))
    refused(
      await runHostile(
        "echo 'ref: refs/heads/main' > src/HEAD",
        'git init -q o; git -C o branch x; bash test.sh',
      ),
    )
    refused(
      await runHostile(
        'echo ../x > src/commondir; echo ref: refs/heads/x > src/HEAD',
        'git init -q o; bash test.sh',
      ),
    )
    const head = { path: 'src/HEAD', content: 'ref: refs/heads/main\n' }
    expect((await call('write_file', head)).error?.code).toBe('forbidden')
    box.write('head', 'ref: refs/heads/main\n')
    expect((await call('move_file', { source: 'head', destination: 'src/HEAD' })).error?.code).toBe(
      'forbidden',
    )
    person('src', 'git', 'status')
    expect(existsSync(proof)).toBe(false)
  })

  test('what is there is treated like .git, and can be deleted as a whole', async () => {
    person('.', 'git', 'init', '-q', '--bare', 'store')
    refused(
      await runHostile(
        `printf '#!/bin/sh\\ntouch ${proof}\\n' > store/hooks/pre-receive; chmod +x store/hooks/pre-receive`,
      ),
    )
    refused(await runHostile('echo x >> store/config', 'git tag x; bash test.sh'))
    refused(
      await runHostile(
        'mkdir -p .vscode/objects .vscode/refs; touch .vscode/HEAD',
        'git tag x; bash test.sh',
      ),
    )
    const input = { path: 'store/hooks/pre-receive', content: 'x' }
    expect((await call('write_file', input)).error?.code).toBe('forbidden')
    expect((await run('rm -rf store')).ok).toBe(true)
    expect(existsSync(join(box.workspace, 'store'))).toBe(false)
    await box.runtime.applyUndo(await box.runtime.planUndo({ last: 1 }))
    expect(existsSync(join(box.workspace, 'store/HEAD'))).toBe(true)
  })
})

describe.skipIf(noSandbox !== '')(
  `a git command in the line opens nothing for the rest of it${noSandbox}`,
  async () => {
    test('settings that lead to a program are not kept, however they are spelled', async () => {
      repository()
      const evil = `touch ${proof};false`
      refused(await run(`git config alias.st '-c core.fsmonitor="${evil}" status'`))
      refused(await run("git config rebase.instructionFormat '%s%nexec touch x'"))
      refused(await run(`git config gc.recentObjectsHook '${evil}'`))
      refused(await run(`git remote add origin 'ext::sh -c "${evil}"'`))
      expect((await run('git config core.hooksPath .husky')).error?.message).toContain(
        'core.hookspath; a person may',
      )
      person('.', 'git', 'st')
      expect(existsSync(proof)).toBe(false)
    })

    test('a remote in the workspace gets no hooks', async () => {
      repository()
      const script = `git init -q --bare evil; printf '#!/bin/sh\ntouch ${proof}\n' > evil/hooks/pre-receive; chmod +x evil/hooks/pre-receive`
      refused(
        await runHostile(
          `${script}; git remote add origin ./evil`,
          'git remote -v; git init -q new; bash test.sh',
        ),
      )
      expect((await run('git init -q --bare evil && git remote add origin ./evil')).ok).toBe(true)
      refused(await runHostile(script, 'git push -q origin main; bash test.sh'))
      // A repository could hide where the names of branches are free.
      refused(
        await runHostile(
          script.replaceAll('evil', '.git/refs/heads/evil'),
          'git tag x; git init -q new; bash test.sh',
        ),
      )
      person('.', 'git', 'push', 'origin', 'main')
      expect(existsSync(proof)).toBe(false)
    })

    test('nor a strategy that is a program', async () => {
      const leave = (file: string, text: string) =>
        `mkdir -p .git/${dirname(file)}; printf '${text}' > .git/${file}`
      for (const [file, text] of [
        ['rebase-merge/strategy', 'x/../evil'],
        ['sequencer/opts', '[options]\\n\\tstrategy = x/../evil\\n'],
        ['sequencer/opts', '[options]\\nstrategy="x/../evil"\\n'],
      ] as const) {
        refused(await runHostile(leave(file, text), 'git rebase -q HEAD; bash test.sh'), file)
      }
      expect(
        (await runHostile(leave('rebase-merge/strategy', 'ort'), 'git rebase -q HEAD; bash test.sh')).ok,
      ).toBe(true)
    })

    test('the name of a working tree hides nothing', async () => {
      repository()
      const line = 'git worktree add -q wt/refs -b w; git config extensions.worktreeConfig true; bash test.sh'
      const script = `printf '[core]\\n\\tfsmonitor = touch ${proof}\\n' > .git/worktrees/refs/config.worktree`
      refused(await runHostile(script, line))
      refused(
        await runHostile(
          'mkdir -p .git/modules/refs/hooks; echo x > .git/modules/refs/hooks/post-merge',
          line,
        ),
      )
    })

    test('a rebase that waits for the person gets no programs to run', async () => {
      repository()
      const script = `mkdir -p .git/rebase-merge; cd .git/rebase-merge; printf 'x touch ${proof}\n' > git-rebase-todo
echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; : > interactive; : > done; echo 0 > msgnum; echo 1 > end`
      refused(await runHostile(script, 'git rebase -q HEAD; bash test.sh'))
      refused(await runHostile(script, 'git tag x; bash test.sh'))
      person('.', 'git', 'rebase', '--continue')
      expect(existsSync(proof)).toBe(false)
      // The same by hand, to see that git would have done it.
      box.write('test.sh', script)
      person('.', 'bash', 'test.sh')
      person('.', 'git', 'rebase', '--continue')
      expect(existsSync(proof)).toBe(true)
    })

    test('daily work goes on', async () => {
      const work = async (line: string) => {
        const { error, data } = await run(line)
        expect([line, error?.message, data]).toMatchObject([line, undefined, { success: true }])
      }
      await work('git init -q -b main . && git config user.name kim && git config user.email k@x')
      await work('git add a.txt && git commit -qm one && git checkout -q -b fix/hooks && git branch config')
      await work('echo more >> a.txt && git stash -q && git stash pop -q && git commit -qam two')
      await work('echo more >> a.txt && git commit -qam three')
      // An interactive rebase is only found in scripts: in a line it is refused before it runs.
      box.write('squash.sh', "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/edit/' git rebase -q -i HEAD~2")
      await work('bash squash.sh && git rebase --continue')
      await work(
        'git clone -q --bare . store.git && git clone -q store.git copy && git remote add origin ./store.git',
      )
      await work(
        'git fetch -q && git push -q -u origin main && git branch -q --set-upstream-to=origin/main config',
      )
      await work(
        'git worktree add -q tree && git worktree remove tree && git -C store.git worktree add -q ../bare-tree',
      )
      await work(
        `git -c protocol.file.allow=always submodule --quiet add file://${box.workspace}/copy lib/module && git commit -qm four`,
      )
      await work('git -c protocol.file.allow=always clone -q --no-local --recurse-submodules . with-modules')
      await work(
        'git switch -q main && git merge -q fix/hooks && git branch -d config && git tag v1 && git stash list',
      )
      await work('git sparse-checkout set lib && git sparse-checkout disable && git gc -q')
    })
  },
)

describe.skipIf(noSandbox !== '')(`files that tools run by themselves${noSandbox}`, () => {
  test('no program leaves them behind; a file tool asks, and git alone brings them', async () => {
    repository()
    refused(await runHostile('mkdir .husky; echo x > .husky/pre-commit', 'git tag x; bash test.sh'))
    refused(await runHostile('echo x > .pre-commit-config.yaml'))
    refused(await runHostile('mkdir .helix; echo x > .helix/languages.toml'))
    const input = { path: '.husky/pre-commit', content: 'npm test\n' }
    expect(await call('write_file', input)).toMatchObject({ ok: true, decision: { by: 'user' } })
    expect((await run('git add .husky && git commit -qm hooks')).ok).toBe(true)
    refused(await run('git checkout -q HEAD~1'))
    expect((await run('git checkout -q HEAD~1', ['.husky/pre-commit'])).ok).toBe(true)
    expect((await run('git checkout -q main', ['.husky/pre-commit'])).ok).toBe(true)
    expect(existsSync(join(box.workspace, '.husky/pre-commit'))).toBe(true)
  })

  test('what husky sets up is refused with words that say what to do', async () => {
    repository()
    const script = 'mkdir -p .husky/_; echo x > .husky/_/h; git config core.hooksPath .husky/_'
    const result = await runHostile(script, 'git fetch -q; bash test.sh')
    refused(result)
    expect(result.error?.message).toMatch(
      /change it with a file tool, which asks, or by git in a line of its own, named/,
    )
    expect((await run('git config core.hooksPath .husky/_')).error?.message).toMatch(
      /it sets core.hookspath; a person may do that outside of Kogu, with git config/,
    )
  })
})
