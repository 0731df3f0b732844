import { describe, expect, test } from 'vitest'
import type { Access } from '../../core/access.ts'
import { analyzeCommand } from './analyze.ts'

const context = { cwd: '/home/dev/ws', home: '/home/dev', workspace: '/home/dev/ws' }
const analyze = (line: string) => analyzeCommand(line, context)
const access = (line: string): string[] => analyze(line).access.map(describeAccess)

function describeAccess(item: Access): string {
  return 'path' in item ? `${item.kind} ${item.path}` : 'url' in item ? `${item.kind} ${item.url}` : item.kind
}

describe('plan', () => {
  test('pipes, lists, negation and redirections are kept', () => {
    expect(analyze('! ls a 2>/dev/null | wc -l && echo "a b" 1>&2; cat < f').plan).toEqual({
      steps: [
        {
          kind: 'pipeline',
          join: 'first',
          negate: true,
          stages: [
            { argv: ['ls', 'a'], redirects: [{ kind: 'null', fd: 2 }] },
            { argv: ['wc', '-l'], redirects: [] },
          ],
        },
        {
          kind: 'pipeline',
          join: '&&',
          negate: false,
          stages: [{ argv: ['echo', 'a b'], redirects: [{ kind: 'dup', fd: 1, of: 2 }] }],
        },
        {
          kind: 'pipeline',
          join: ';',
          negate: false,
          stages: [{ argv: ['cat'], redirects: [{ kind: 'file', fd: 0, path: 'f' }] }],
        },
      ],
    })
  })

  test('patterns carry what must stay literal', () => {
    expect(analyze('ls *.ts').plan?.steps[0]).toMatchObject({
      stages: [{ argv: ['ls', { glob: '*.ts', literal: '*.ts' }] }],
    })
    expect(analyze('ls "[x]"*').plan?.steps[0]).toMatchObject({
      stages: [{ argv: ['ls', { glob: '\\[x\\]*', literal: '[x]*' }] }],
    })
    expect(analyze('ls "*"').plan?.steps[0]).toMatchObject({ stages: [{ argv: ['ls', '*'] }] })
    expect(analyze('ls **/*.ts').plan?.steps[0]).toMatchObject({
      stages: [{ argv: ['ls', { glob: '*/*.ts' }] }],
    })
    expect(analyze('grep -r --include=*.ts x .').plan?.steps[0]).toMatchObject({
      stages: [{ argv: ['grep', '-r', '--include=*.ts', 'x', '.'] }],
    })
  })

  test('a pattern never makes a writer out of a reader', () => {
    for (const line of ['uniq *', 'xxd *', 'date *', 'jq *', 'sed *', 'awk *', 'hostname *', 'sleep *']) {
      expect([line, analyze(line).level]).not.toEqual([line, 'safe'])
    }
  })

  test('`cd` becomes a step, and here-texts are carried', () => {
    expect(analyze('cd sub && ls').plan?.steps[0]).toEqual({
      kind: 'cd',
      join: 'first',
      negate: false,
      directory: 'sub',
    })
    expect(analyze('wc -w <<< "a b"').plan?.steps[0]).toMatchObject({
      stages: [{ redirects: [{ kind: 'text', fd: 0, text: 'a b\n' }] }],
    })
    expect(analyze("cat <<'X'\n$a\nX").plan?.steps[0]).toMatchObject({
      stages: [{ redirects: [{ kind: 'text', fd: 0, text: '$a\n' }] }],
    })
  })

  test('shell words become programs', () => {
    expect(analyze('ls x && : ok').plan?.steps).toMatchObject([
      { stages: [{ argv: ['ls', 'x'] }] },
      { stages: [{ argv: ['true'] }] },
    ])
  })
})

describe('reasons and commands', () => {
  test('wrappers are looked through, and every command is listed', () => {
    const analysis = analyze('sudo env X=1 nice sh -c "curl https://e.com | tee /etc/x"')
    expect(analysis.commands.map(command => command.program)).toEqual([
      'sudo',
      'env',
      'nice',
      'sh',
      'curl',
      'tee',
    ])
    expect(analysis.level).toBe('dangerous')
    expect(analysis.effects).toEqual(
      expect.arrayContaining(['privilege', 'network', 'runs-code', 'writes-files']),
    )
    expect(access('sudo sh -c "echo > /etc/x"')).toContain('file_write /etc/x')
  })

  test('the strictest reason comes first, as a sentence', () => {
    const [first, ...rest] = analyze('ls > x; rm -rf /; sudo id').reasons
    expect(first).toMatchObject({
      level: 'forbidden',
      text: 'This deletes the whole file system.',
      command: 'rm -rf /',
    })
    expect(rest.map(reason => reason.level)).not.toContain('forbidden')
    for (const reason of analyze('foo $X | bar > y &').reasons) expect(reason.text).toMatch(/^[A-Z`].*[.]$/)
  })

  test('a file that is called as what only looks does not make a stash a look', () => {
    for (const line of ['git stash -u -- list', 'git stash -p list', 'git worktree -v list'])
      expect([line, analyze(line).plan]).toEqual([line, null])
    expect(analyze('git stash list').plan).not.toBeNull()
  })

  test.each([
    ['git -C . commit -m x', 'commit'],
    ['git "$X"', undefined],
    ['for G in git; do $G push; done', undefined],
    ['git --version', undefined],
  ])('the subcommand of git is said where the words are certain: %s', (line, expected) => {
    expect(analyze(line).commands.find(({ argv }) => argv.length > 1)?.subcommand).toBe(expected)
  })

  test('all settings of git ask because of secrets, however they are asked for; one that is none does not', () => {
    for (const line of [
      'git config --list',
      'git config -l',
      'git config list',
      'git config --list user.name',
    ])
      expect(analyze(line)).toMatchObject({
        plan: null,
        reasons: [{ text: '`git` shows or changes settings (all settings may include secrets).' }],
      })
    expect(analyze('git config user.name').plan).not.toBeNull()
  })

  test('hidden characters are named and ask', () => {
    const cases: [string, RegExp][] = [
      ['ls\u200b', /does not show.*U\+200B/],
      ['ls \u202e', /U\+202E/],
      ['ls\u00a0-la', /U\+00A0/],
      ['ls\r\n', /U\+000D/],
      ['ls \u0007', /U\+0007/],
      ['ls \u0000', /U\+0000/],
      ['ls \ud800', /U\+D800/],
      ['ls \u{e0041}', /U\+E0041/],
      ['ls \u3164', /U\+3164/],
      ['ls \ue000', /U\+E000/],
    ]
    for (const [line, pattern] of cases) {
      const analysis = analyze(line)
      expect(analysis.level).toBe('unknown')
      expect(analysis.reasons[0]?.text).toMatch(pattern)
    }
    expect(analyze('echo "Grüße, 世界 ✅ ⚠️"').level).toBe('safe')
  })

  test('an empty line, blanks or a comment are nothing to run', () => {
    for (const line of ['', '  ', '# x', '\n\n'])
      expect(analyze(line)).toMatchObject({ level: 'unknown', plan: null })
  })

  test('a name that objects inherit is no program', () => {
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf']) {
      expect(analyze(name).level).toBe('unknown')
      expect(analyze(`git ${name}`).level).toBe('unknown')
      expect(analyze(`echo $${name}`).level).toBe('unknown')
    }
  })
})

test.each([
  'git -C . push',
  'git --namespace x push',
  'git --work-tree . --git-dir=.git push',
  'git -c a=b push',
  'npm --silent publish',
  'npm --prefix sub publish',
  'docker --context x push image',
  'cargo +nightly -Z unstable-options publish',
  'gh -R a/b release create v1',
  'uv --directory x publish',
])('%s publishes', line => {
  expect(analyze(line).effects).toContain('publishes')
})

test.each([
  "git fetch --upload-pack='rm -rf /' x",
  "git fetch --upload-p='rm -rf /' x",
  "git push --receive-pack='rm -rf /' x",
  "git push --exec='rm -rf /' x",
  "git clone -u 'rm -rf /' x",
  "git ls-remote --exec='rm -rf /' x",
  "git archive --remote=x --exec='rm -rf /' HEAD",
  "git rebase -x 'rm -rf /' HEAD~1",
  "git rebase -ix'rm -rf /' HEAD~1",
  "git rebase --exe='rm -rf /' HEAD~1",
  "git difftool -x 'rm -rf /'",
  "git difftool --extcmd='rm -rf /'",
  "git grep -O'rm -rf /' x",
  "git fetch 'ext::rm -rf /'",
  'git bisect run rm -rf /',
  "git submodule foreach 'rm -rf /'",
  "git filter-branch --env-filter='rm -rf /'",
])('what git is told to run is looked at: %s', line => {
  expect(analyze(line).level).toBe('forbidden')
})

describe('limits', () => {
  test('long lines ask after the forbidden scan', () => {
    const long = `echo ${'a'.repeat(9000)}`
    expect(analyze(long).level).toBe('unknown')
    expect(analyze(`${long}; rm -rf /`).level).toBe('forbidden')
    const huge = `echo ${'a'.repeat(70_000)}`
    expect(analyze(huge).level).toBe('unknown')
    expect(analyze(`${huge}; rm -rf / `).level).toBe('forbidden')
    // Text that is only written down is not run.
    expect(analyze(`cat > notes.md <<'X'\n${'a\n'.repeat(5000)}rm -rf /\nX`).level).toBe('unknown')
  })

  test('what follows a part that is too deep is still looked at', () => {
    const deep = `${'('.repeat(40)}ls${')'.repeat(40)}`
    expect(analyze(deep)).toMatchObject({ level: 'unknown', plan: null })
    expect(analyze(`${deep}; reboot`)).toMatchObject({
      level: 'forbidden',
      effects: expect.arrayContaining(['power']),
    })
  })

  test('nothing that is nested or repeated hangs or overflows', () => {
    const many = (text: string, count: number) => text.repeat(count)
    const lines = [5, 60, 400, 3000, 20_000].flatMap(count => [
      many('"$(', count),
      `echo ${many('{a,', count)}`,
      `echo ${many('{a,b}', count)}`,
      many('(', count),
      many('((', count),
      `echo ${many('${a:-', count)}`,
      `echo ${many('`a ', count)}`,
      `echo ${many('$((', count)}`,
      many('f() ', count),
      many('if ', count),
      many('! ', count),
      many('a|', count),
      many('ls;', count),
      many('sudo ', count),
      `sh -c ${many("'", count)}`,
      many('eval ', count),
      `echo ${many('*', count)}`,
      `rm -rf /${many('*a', count)}`,
      `sed -n '${many('1p;', count)}'`,
      `awk '${many('{print $1}', count)}'`,
      many('cat <<a\n', count),
      `jq '${many('[', count)}'`,
      many('X=1;', count),
      `for i in 1 2 3 4 5 6 7 8 9; do ${many('for j in 1 2 3 4 5 6 7 8 9; do ', Math.min(count, 40))} ls`,
      many('find . -exec ', count),
      `echo ${many('"$HOME" ', count)}`,
    ])
    for (const line of lines) {
      // Processor time: other tests run at the same time.
      const start = process.cpuUsage()
      const analysis = analyze(line)
      const time = process.cpuUsage(start).user / 1000
      expect([line.slice(0, 20), time < 200]).toEqual([line.slice(0, 20), true])
      if (line.length > 9000) expect(analysis.level).not.toBe('safe')
    }
  })
})

test.each([
  "echo 'make deploy' | bash -o errexit",
  "echo 'make deploy' | bash -eO extglob",
  "bash --rcfile x <<< 'make deploy'",
  "bash -co errexit 'make deploy'",
  "bash -oc errexit 'make deploy'",
  "bash -c -o errexit 'make deploy'",
  "pwsh -NoLogo -Command 'make deploy'",
  "source -- /dev/stdin <<< 'make deploy'",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a parameter of the shell
  "sh -c 'make ${10}' 0 1 2 3 4 5 6 7 8 9 deploy",
])('%s: the code that a shell is given is seen behind its options', line => {
  const lines = analyze(line).commands.map(({ argv }) => argv.map(({ text }) => text).join(' '))
  expect(lines).toContain('make deploy')
})
