import { describe, expect, test } from 'vitest'
import type { Mode } from '../core/decision.ts'
import { analyzeCommand } from './commands/analyze.ts'
import { loadCorpus } from './commands/corpus/testing.ts'
import type { RuleDefinition } from './rules/rules.ts'
import { createTestEngine, type TestEngine } from './testing.ts'

// A rule that forbids a command holds also where nobody can see the command: in what the analyser does not read, and in
// words that are put together when the line runs.

const containment = () => ({ works: true }) as const

async function decide(box: TestEngine, command: string) {
  return (await box.engine.judge(box.request('run_command', { kind: 'execute', command }))).decision
}

const push = 'git push'
const UNREADABLE: [what: string, line: string][] = [
  ['longer than 64 KB', `: ${'x'.repeat(70_000)}\n${push}`],
  ['with a long here-document', `cat > a <<E\n${'x\n'.repeat(40_000)}E\n${push}`],
  ['with a null character', `${push}\0`],
  ['too deep', `${'('.repeat(450)}${push}${')'.repeat(450)}`],
  ['with too many substitutions', `echo ${'$(echo '.repeat(70)}x${')'.repeat(70)}; ${push}`],
  ['nested too deep', `${'if true; then '.repeat(40)}${push}${'; fi'.repeat(40)}`],
  ['with too many commands', `${'true;'.repeat(2_000)} ${push}`],
  ['with too many words', `npm ${'x '.repeat(1_200)}`],
  ['that ends in the middle', `${push}; if true`],
  ['with an open quote', `${push}; echo "`],
  ['with code inside that is too long', `bash -c '${': x;'.repeat(3_000)} ${push}'`],
]

describe('a line that cannot be read in full', () => {
  test.each(UNREADABLE)('%s is asked about or refused in every mode, whatever allows it', async (_, line) => {
    const broad: Omit<RuleDefinition, 'origin'> = { decision: 'allow', tool: 'run_command' }
    for (const mode of ['ask', 'accept-edits', 'auto', 'read-only'] satisfies Mode[]) {
      for (const rules of [
        [],
        [broad],
        [{ decision: 'deny', command: ['git', 'push', '**'] } as const, broad],
      ]) {
        const box = createTestEngine(rules, { mode, containment })
        expect([mode, (await decide(box, line)).outcome]).not.toEqual([mode, 'allow'])
      }
    }
  })

  test('is none that people write', () => {
    const lines = [...loadCorpus('safe'), ...loadCorpus('contained'), ...loadCorpus('work')]
    const context = { cwd: '/work', home: '/home/kim', workspace: '/work' }
    expect(lines.filter(({ command }) => analyzeCommand(command, context).unread)).toEqual([])
  })
})

describe('where a rule forbids a command', () => {
  const deny = (...command: string[]) => createTestEngine([{ decision: 'deny', command }], { containment })

  test.each([
    'set -- make deploy; "$@"',
    'a=(make deploy); "§{a[@]}"',
    'read -r -a a <<< "make deploy"; "§{a[@]}"',
    'x=make; y=deploy; $(echo $x) $y',
    'hash -p /usr/bin/make foo; foo deploy',
    'BASH_CMDS[foo]=/usr/bin/make; foo deploy',
    "echo make deploy | sed 's/x/x/e'",
    "sed '1e' script.txt",
    "sed 's|^|make |e' words.txt",
    "echo make deploy | awk '{ system($0) }'",
    "awk '{ print | $0 }' words.txt",
    'find . -name make -exec {} deploy ;',
    'find deploy -exec make {} ;',
    'f() { "$@"; }; f make deploy',
    'timeout 5 "$@"',
    'env "$X" deploy',
    'eval "$CMD"',
    'bash -c "$CMD"',
    'xargs -I{} {} deploy < words.txt',
    'echo make deploy | while read -r l; do $l; done',
    'for c in make; do "$c" deploy; done',
    '§{!x} deploy',
    './*ake deploy',
    'IFS=,; x=make,deploy; $x',
    "sed 's/a/make deploy/Me' words.txt",
    "x='§(make deploy)'; echo §{x@P}",
    "x='a[§(make deploy)]'; echo §{!x}",
  ])('a line whose command nobody can know does not run unasked: %s', async line => {
    const written = line.replaceAll('§', '$')
    expect((await decide(deny('make', 'deploy'), written)).outcome).not.toBe('allow')
  })

  test.each(['npm "$@"', 'npm $X', 'npm run "$@"', 'npm $OPTS run deploy', 'npm run $A$B'])(
    'words of it that nobody can know count: %s',
    async line => expect((await decide(deny('npm', 'run', 'deploy'), line)).outcome).toBe('deny'),
  )

  test.each([
    'make test',
    'for f in a b; do node "$f"; done',
    'node "$FILE"',
    "sed -i 's/e/f/' a.txt",
    'bash build.sh',
    "awk '{ print $1 || $2 }' a.txt > b.txt",
  ])('other lines run as before: %s', async line =>
    expect((await decide(deny('make', 'deploy'), line)).outcome).toBe('allow'),
  )

  test('a rule about effects and one of an ordered list count as well', async () => {
    const effects = createTestEngine([{ decision: 'deny', effects: ['publishes'] }], { containment })
    expect((await decide(effects, 'set -- npm publish; "$@"')).outcome).toBe('ask')
    const none = createTestEngine([{ decision: 'deny', path: ['x/**'] }], { containment })
    expect((await decide(none, 'set -- npm publish; "$@"')).outcome).toBe('allow')
  })
})
