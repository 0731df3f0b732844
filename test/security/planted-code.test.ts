import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from '../support/kogu.ts'
import { noSandbox } from '../support/skips.ts'

// An approved line looks innocent, and the program that it starts is hostile: it leaves something behind that git or
// another tool runs later, outside the sandbox, when the person does their everyday work.

let box: Sandboxed
/** What hostile code leaves where it ran as the person. */
let proof: string
beforeEach(() => {
  box = createSandboxed()
  // Programs that a person approved before they ran.
  box.configure('[permissions]\ncommands = "ask"\n')
  proof = join(box.home, 'proof')
  box.write('a.txt', 'hello\n')
})
afterEach(() => box.remove())

const run = (command: string, brings: string[] = []) =>
  box.json(['call', 'run_command', JSON.stringify({ command, brings }), '--yes-once'])

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

const refused = (result: { error?: { code: string; message: string } }, what = '') =>
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
  () => {
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
    refused(run('git switch -q other && bash test.sh'))
    refused(run('git switch -q hostile'))
    const all = ['.vscode/tasks.json', '.claude/settings.json']
    expect(run('git switch -q other').error.message).toContain('named in "brings"')
    refused(run('git switch -q other', ['.vscode/tasks.json']))
    refused(run('git switch -q other && bash test.sh', all))
    refused(run('git switch -q hostile', [...all, 'kogu.toml']))
    expect(run('git switch -q other', all)).toMatchObject({ ok: true, data: { exit_code: 0 } })
    expect(existsSync(join(box.workspace, '.vscode/tasks.json'))).toBe(true)
  },
)

describe.skipIf(noSandbox !== '')(`what git brings is not what the line says${noSandbox}`, () => {
  const planted = () => ['.vscode/tasks.json', '.envrc'].filter(path => existsSync(join(box.workspace, path)))

  test('a repository by its shape, reached by cd, plants nothing', () => {
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
      refused(run(line), line)
      refused(run(line, ['.vscode/tasks.json', '.envrc']), line)
    }
    expect(planted()).toEqual([])
    // The same by hand, to see that git would have done it.
    person('docs', 'git', 'reset', '-q', '--hard')
    expect(planted()).toEqual(['.vscode/tasks.json', '.envrc'])
  })

  test('nor does a commit that a script made by plumbing', () => {
    repository()
    const script = `blob=$(echo x | git hash-object -w --stdin)
git update-index --add --cacheinfo 100644,$blob,.vscode/tasks.json
git update-index --add --cacheinfo 100644,$blob,.envrc
git commit -qm planted`
    expect(runHostile(script, 'git tag x; bash test.sh').ok).toBe(true)
    refused(run('git reset -q --hard'))
    refused(run('git checkout -q HEAD -- .'))
    expect(planted()).toEqual([])
  })
})

describe.skipIf(noSandbox !== '')(`a bare repository is one by its shape${noSandbox}`, () => {
  test('the exploit works where nobody checks', () => {
    box.write('test.sh', BARE('src'))
    person('.', 'bash', 'test.sh')
    person('src', 'git', 'status')
    expect(existsSync(proof)).toBe(true)
  })

  test.each(['src', 'deep/er', '.'])('no program makes one in %s', folder => {
    refused(runHostile(BARE(folder)))
    refused(runHostile(BARE(folder), 'git init -q other; bash test.sh'))
    if (existsSync(join(box.workspace, folder))) person(folder, 'git', 'status')
    expect(existsSync(proof)).toBe(false)
  })

  test('nor piece by piece', () => {
    mkdirSync(join(box.workspace, 'src/objects'), { recursive: true })
    expect(runHostile(BARE('src').replace(/^echo.*$/m, '')).ok).toBe(true)
    refused(runHostile("echo 'ref: refs/heads/main' > src/HEAD"))
    refused(
      runHostile("echo 'ref: refs/heads/main' > src/HEAD", 'git init -q o; git -C o branch x; bash test.sh'),
    )
    refused(
      runHostile(
        'echo ../x > src/commondir; echo ref: refs/heads/x > src/HEAD',
        'git init -q o; bash test.sh',
      ),
    )
    const tool = (name: string, input: object) =>
      box.json(['call', name, JSON.stringify(input), '--yes-once'])
    expect(tool('write_file', { path: 'src/HEAD', content: 'ref: refs/heads/main\n' }).error?.code).toBe(
      'forbidden',
    )
    box.write('head', 'ref: refs/heads/main\n')
    expect(tool('move_file', { source: 'head', destination: 'src/HEAD' }).error?.code).toBe('forbidden')
    person('src', 'git', 'status')
    expect(existsSync(proof)).toBe(false)
  })

  test('what is there is treated like .git, and can be deleted as a whole', () => {
    person('.', 'git', 'init', '-q', '--bare', 'store')
    refused(
      runHostile(
        `printf '#!/bin/sh\\ntouch ${proof}\\n' > store/hooks/pre-receive; chmod +x store/hooks/pre-receive`,
      ),
    )
    refused(runHostile('echo x >> store/config', 'git tag x; bash test.sh'))
    refused(
      runHostile('mkdir -p .vscode/objects .vscode/refs; touch .vscode/HEAD', 'git tag x; bash test.sh'),
    )
    const input = { path: 'store/hooks/pre-receive', content: 'x' }
    expect(box.json(['call', 'write_file', JSON.stringify(input), '--yes-once']).error?.code).toBe(
      'forbidden',
    )
    expect(run('rm -rf store').ok).toBe(true)
    expect(existsSync(join(box.workspace, 'store'))).toBe(false)
    expect(box.run(['undo', '--yes']).code).toBe(0)
    expect(existsSync(join(box.workspace, 'store/HEAD'))).toBe(true)
  })
})

describe.skipIf(noSandbox !== '')(
  `a git command in the line opens nothing for the rest of it${noSandbox}`,
  () => {
    test('settings that lead to a program are not kept, however they are spelled', () => {
      repository()
      const evil = `touch ${proof};false`
      refused(run(`git config alias.st '-c core.fsmonitor="${evil}" status'`))
      refused(run("git config rebase.instructionFormat '%s%nexec touch x'"))
      refused(run(`git config gc.recentObjectsHook '${evil}'`))
      refused(run(`git remote add origin 'ext::sh -c "${evil}"'`))
      expect(run('git config core.hooksPath .husky').error.message).toContain('core.hookspath; a person may')
      person('.', 'git', 'st')
      expect(existsSync(proof)).toBe(false)
    })

    test('a remote in the workspace gets no hooks', () => {
      repository()
      const script = `git init -q --bare evil; printf '#!/bin/sh\ntouch ${proof}\n' > evil/hooks/pre-receive; chmod +x evil/hooks/pre-receive`
      refused(
        runHostile(`${script}; git remote add origin ./evil`, 'git remote -v; git init -q new; bash test.sh'),
      )
      expect(run('git init -q --bare evil && git remote add origin ./evil').ok).toBe(true)
      refused(runHostile(script, 'git push -q origin main; bash test.sh'))
      // A repository could hide where the names of branches are free.
      refused(
        runHostile(
          script.replaceAll('evil', '.git/refs/heads/evil'),
          'git tag x; git init -q new; bash test.sh',
        ),
      )
      person('.', 'git', 'push', 'origin', 'main')
      expect(existsSync(proof)).toBe(false)
    })

    test('nor a strategy that is a program', () => {
      const leave = (file: string, text: string) =>
        `mkdir -p .git/${dirname(file)}; printf '${text}' > .git/${file}`
      for (const [file, text] of [
        ['rebase-merge/strategy', 'x/../evil'],
        ['sequencer/opts', '[options]\\n\\tstrategy = x/../evil\\n'],
        ['sequencer/opts', '[options]\\nstrategy="x/../evil"\\n'],
      ] as const) {
        refused(runHostile(leave(file, text), 'git rebase -q HEAD; bash test.sh'), file)
      }
      expect(runHostile(leave('rebase-merge/strategy', 'ort'), 'git rebase -q HEAD; bash test.sh').ok).toBe(
        true,
      )
    })

    test('the name of a working tree hides nothing', () => {
      repository()
      const line = 'git worktree add -q wt/refs -b w; git config extensions.worktreeConfig true; bash test.sh'
      const script = `printf '[core]\\n\\tfsmonitor = touch ${proof}\\n' > .git/worktrees/refs/config.worktree`
      refused(runHostile(script, line))
      refused(
        runHostile('mkdir -p .git/modules/refs/hooks; echo x > .git/modules/refs/hooks/post-merge', line),
      )
    })

    test('a rebase that waits for the person gets no programs to run', () => {
      repository()
      const script = `mkdir -p .git/rebase-merge; cd .git/rebase-merge; printf 'x touch ${proof}\n' > git-rebase-todo
echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; : > interactive; : > done; echo 0 > msgnum; echo 1 > end`
      refused(runHostile(script, 'git rebase -q HEAD; bash test.sh'))
      refused(runHostile(script, 'git tag x; bash test.sh'))
      person('.', 'git', 'rebase', '--continue')
      expect(existsSync(proof)).toBe(false)
      // The same by hand, to see that git would have done it.
      box.write('test.sh', script)
      person('.', 'bash', 'test.sh')
      person('.', 'git', 'rebase', '--continue')
      expect(existsSync(proof)).toBe(true)
    })

    test('daily work goes on', () => {
      const work = (line: string) => {
        const { error, data } = run(line)
        expect([line, error?.message, data]).toMatchObject([line, undefined, { success: true }])
      }
      work('git init -q -b main . && git config user.name kim && git config user.email k@x')
      work('git add a.txt && git commit -qm one && git checkout -q -b fix/hooks && git branch config')
      work('echo more >> a.txt && git stash -q && git stash pop -q && git commit -qam two')
      work('echo more >> a.txt && git commit -qam three')
      // An interactive rebase is only found in scripts: in a line it is refused before it runs.
      box.write('squash.sh', "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/edit/' git rebase -q -i HEAD~2")
      work('bash squash.sh && git rebase --continue')
      work(
        'git clone -q --bare . store.git && git clone -q store.git copy && git remote add origin ./store.git',
      )
      work('git fetch -q && git push -q -u origin main && git branch -q --set-upstream-to=origin/main config')
      work(
        'git worktree add -q tree && git worktree remove tree && git -C store.git worktree add -q ../bare-tree',
      )
      work(
        `git -c protocol.file.allow=always submodule --quiet add file://${box.workspace}/copy lib/module && git commit -qm four`,
      )
      work('git -c protocol.file.allow=always clone -q --no-local --recurse-submodules . with-modules')
      work('git sparse-checkout set lib && git sparse-checkout disable && git gc -q')
    })
  },
)

describe.skipIf(noSandbox !== '')(`files that tools run by themselves${noSandbox}`, () => {
  test('no program leaves them behind; a file tool asks, and git alone brings them', () => {
    repository()
    refused(runHostile('mkdir .husky; echo x > .husky/pre-commit', 'git tag x; bash test.sh'))
    refused(runHostile('echo x > .pre-commit-config.yaml'))
    refused(runHostile('mkdir .helix; echo x > .helix/languages.toml'))
    const input = JSON.stringify({ path: '.husky/pre-commit', content: 'npm test\n' })
    expect(box.run(['call', 'write_file', input, '--mode', 'accept-edits']).code).toBe(7)
    expect(box.run(['call', 'write_file', input, '--yes-once']).code).toBe(0)
    expect(run('git add .husky && git commit -qm hooks').ok).toBe(true)
    refused(run('git checkout -q HEAD~1'))
    expect(run('git checkout -q HEAD~1', ['.husky/pre-commit']).ok).toBe(true)
    expect(run('git checkout -q main', ['.husky/pre-commit']).ok).toBe(true)
    expect(existsSync(join(box.workspace, '.husky/pre-commit'))).toBe(true)
  })

  test('what husky sets up is refused with words that say what to do', () => {
    repository()
    const script = 'mkdir -p .husky/_; echo x > .husky/_/h; git config core.hooksPath .husky/_'
    const { error } = runHostile(script, 'git fetch -q; bash test.sh')
    refused({ error })
    expect(error.message).toMatch(
      /change it with a file tool, which asks, or by git in a line of its own, named/,
    )
    expect(run('git config core.hooksPath .husky/_').error.message).toMatch(
      /it sets core.hookspath; a person may do that outside of Kogu, with git config/,
    )
  })
})
