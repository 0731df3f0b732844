import { execFileSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { toEnvironment } from '../src/config/environment.ts'
import { loadConfig } from '../src/config/load.ts'
import type { Answer, Approver, Question } from '../src/core/approval.ts'
import type { CallResult } from '../src/core/call.ts'
import { createRuntime } from '../src/runtime.ts'
import { folderOutsideTmp } from './support/outside-tmp.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'
import { noSandbox } from './support/skips.ts'

// Lines run first, behind walls and on a layer; what they really changed is judged as the same changes by a file tool.

const opened: TestRuntime[] = []
afterEach(async () => {
  for (const kogu of opened.splice(0)) await kogu.close()
})

interface Asked {
  readonly questions: Question[]
  readonly approver: Approver
}

function answering(answer: Answer | ((question: Question) => Answer)): Asked {
  const questions: Question[] = []
  return {
    questions,
    approver: {
      async ask(question) {
        questions.push(question)
        return typeof answer === 'function' ? answer(question) : answer
      },
    },
  }
}

const YES: Answer = { kind: 'once', user: 'kim' }
const NO: Answer = { kind: 'deny', user: 'kim', message: 'not today' }

async function open(config = '', asked = answering({ kind: 'unavailable', reason: 'a test' })) {
  const kogu = await openTestRuntime(config, asked.approver)
  opened.push(kogu)
  kogu.write('package.json', '{"name":"shop","scripts":{"test":"node test.js","build":"node build.js"}}\n')
  kogu.write('test.js', 'console.log("1 passed")\n')
  kogu.write(
    'build.js',
    'const fs = require("fs"); fs.rmSync("dist", { recursive: true, force: true }); fs.mkdirSync("dist/assets", { recursive: true }); fs.writeFileSync("dist/assets/new.js", "new\\n"); fs.writeFileSync("dist/index.html", "two\\n")\n',
  )
  kogu.write('src/a.js', 'let a = 1\nlet b = 2\n')
  kogu.write('src/b.js', 'let c = 3\n')
  kogu.write('dist/index.html', 'one\n')
  kogu.write('dist/assets/old.js', 'old\n')
  kogu.write('.env', 'TOKEN=TOPSECRET\n')
  kogu.write('Makefile', 'all:\n\t@echo made\n')
  return kogu
}

const run = (kogu: TestRuntime, command: string, more: object = {}): Promise<CallResult> =>
  kogu.runtime.call({ tool: 'run_command', input: { command, ...more } })

/** Lines that a coding agent runs all day, and that change nothing. */
const LOOKS = [
  'npm test',
  'npm test -- --verbose',
  'node test.js',
  'node -e "console.log(1 + 1)"',
  'python3 -c "print(1 + 1)"',
  'make',
  'make -n all',
  'find . -name "*.js" | xargs wc -l',
  'for f in src/*.js; do wc -l "$f"; done',
  'while read -r line; do echo "$line"; done < src/a.js',
  'bash -c "echo hello"',
  'sh -c "ls src | sort"',
  "awk '{ print $1 }' src/a.js",
  'perl -ne "print if /let/" src/a.js',
  'node --check src/a.js',
  `python3 -c '${'x = 1; '.repeat(50)}print(x)'`,
  'node -e "console.log(1)" package.json/x',
  'node --version && npm --version',
  'cat src/*.js | tr a-z A-Z',
  'diff <(sort src/a.js) <(sort src/b.js) || true',
  'export X=1; echo $X',
  'x=$(grep -c let src/a.js); echo "$x"',
  'if [ -d dist ]; then echo built; fi',
  'python3 - <<< "print(2)"',
  'echo "console.log(3)" | node',
  'test -f package.json && node -p "require(\'./package.json\').name"',
  'eval "echo evaluated"',
  'tmp=$(mktemp) && echo x > "$tmp" && cat "$tmp"',
  'ls | while read f; do echo "- $f"; done',
  'seq 3 | xargs -I{} echo item {}',
  'env | sort | head -3',
  'git status --short || true',
]

/** The same, and they change files inside the scope. */
const CHANGES = [
  'npm run build',
  'mkdir -p out',
  'sed -i s/1/5/ src/a.js',
  'echo x > src/new.js',
  'cat > src/c.js <<EOF\nlet d = 4\nEOF',
  'cp src/a.js src/copy.js',
  'printf "more\\n" >> src/b.js',
  "python3 -c \"open('made.txt', 'w').write('x')\"",
  "node -e \"require('fs').appendFileSync('src/a.js', '// end\\n')\"",
  'tar cf src.tar src',
]

describe.skipIf(noSandbox !== '')(`contained command lines${noSandbox}`, () => {
  test.each(['ask', 'accept-edits', 'read-only', 'auto'])(
    'that change nothing never ask, in the mode %s',
    async mode => {
      const asked = answering(NO)
      const kogu = await open(`mode = "${mode}"\n`, asked)
      const before = treeOf(kogu.workspace)
      const results = await inPairs(LOOKS, async line => ({ line, result: await run(kogu, line) }))
      for (const { line, result } of results) {
        expect({ line, ok: result.ok, code: dataOf(result).exit_code }).toEqual({ line, ok: true, code: 0 })
        expect(['contained', 'rule']).toContain(result.decision.by)
        expect(result.risk).toBe('low')
      }
      expect(asked.questions).toEqual([])
      expect(treeOf(kogu.workspace)).toEqual(before)
    },
  )

  test('that change files ask once, with the real difference, and are kept after the yes', async () => {
    const asked = answering(YES)
    const kogu = await open('', asked)
    for (const [index, line] of CHANGES.entries()) {
      const result = await run(kogu, line)
      expect({ line, ok: result.ok, by: result.decision.by }).toEqual({ line, ok: true, by: 'user' })
      expect(asked.questions.length).toBe(index + 1)
      expect(result.effects.length).toBeGreaterThan(0)
    }
    expect(asked.questions[0]?.preview).toContain('Deleted:\n  dist/assets/old.js')
    expect(asked.questions[0]?.preview).toContain('-one\n+two')
    expect(readFileSync(join(kogu.workspace, 'dist/assets/new.js'), 'utf8')).toBe('new\n')
    expect(readdirSync(join(kogu.workspace, 'dist/assets'))).toEqual(['new.js'])
    expect(readFileSync(join(kogu.workspace, 'src/a.js'), 'utf8')).toBe('let a = 5\nlet b = 2\n// end\n')
  })

  test('show where new links lead, and what can be run or written by others now', async () => {
    const asked = answering(NO)
    const kogu = await open('', asked)
    kogu.write('change.sh', 'ln -s /etc/passwd notes; chmod 777 test.js; cp -p test.js tool; chmod 700 src\n')
    await run(kogu, 'sh change.sh')
    expect(asked.questions[0]?.preview).toBe(
      [
        '4 entries written, +1 -0 lines',
        '  link notes -> /etc/passwd',
        '  folder src (mode 755 -> 700)',
        '  changed test.js (24 bytes, mode 644 -> 777)',
        '  new tool (+1 -0, mode 777)',
        '',
        '--- a/tool\n+++ b/tool\n@@ -0,0 +1,1 @@\n+console.log("1 passed")',
      ].join('\n'),
    )
  })

  test('of one turn run side by side, and of two that change the same file one says that it was not kept', async () => {
    const kogu = await open('mode = "accept-edits"\n')
    kogu.write('start/here', '')
    kogu.write(
      'count.js',
      `const fs = require('fs'); console.log('ready')
       const timer = setInterval(() => {
         if (fs.readdirSync('start').length < 2) return
         clearInterval(timer)
         fs.writeFileSync('count', process.argv[2] + '\\n')
       }, 5)\n`,
    )
    const ready = new Set<string>()
    const request = (name: string) => ({
      tool: 'run_command',
      input: { command: `node count.js ${name}` },
      run: 'turn',
      // Neither ends before both have begun.
      onProgress: () => {
        ready.add(name)
        if (ready.size === 2) kogu.write('start/now', '')
      },
    })
    const results = await kogu.runtime.callAll([request('one'), request('two')])
    const kept = results.find(({ ok }) => ok)
    const refused = results.find(({ ok }) => !ok)
    expect(refused?.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('count') })
    expect(readFileSync(join(kogu.workspace, 'count'), 'utf8')).toBe(
      `${results[0] === kept ? 'one' : 'two'}\n`,
    )
    expect(readdirSync(join(kogu.workspace, '.kogu/overlays'))).toEqual([])
  })

  test('of one turn wait for each other when they name what they write or move the run', async () => {
    const kogu = await open('mode = "accept-edits"\n')
    const lines = [
      'mkdir -p made',
      'touch made/file',
      'cd made',
      'ls',
      'node -e 1',
      'export X=5',
      'echo "x is $X"',
    ]
    const results = await kogu.runtime.callAll(
      lines.map(command => ({ tool: 'run_command', input: { command }, run: 'turn' })),
    )
    expect(results.map(({ ok }) => ok)).toEqual(lines.map(() => true))
    expect(results[3]?.text).toBe('file')
    expect(results[6]?.text).toBe('x is 5')
  })

  test('leave the workspace byte for byte when their changes are refused, and say so', async () => {
    const kogu = await open('', answering(NO))
    const before = treeOf(kogu.workspace)
    for (const line of CHANGES) {
      const result = await run(kogu, line)
      expect({ line, ok: result.ok, kept: dataOf(result).changes_kept }).toEqual({
        line,
        ok: true,
        kept: false,
      })
      expect(result.text).toContain('Its changes were not kept: Denied by kim: not today.')
      expect(result.effects).toEqual([])
      expect(treeOf(kogu.workspace)).toEqual(before)
    }
    expect(readdirSync(join(kogu.workspace, '.kogu/overlays'))).toEqual([])
  })

  test('never ask in the mode accept-edits for what they write inside the scope', async () => {
    const asked = answering(NO)
    const kogu = await open('mode = "accept-edits"\n', asked)
    for (const line of CHANGES.slice(1)) {
      const result = await run(kogu, line)
      expect({ line, ok: result.ok, kept: dataOf(result).changes_kept }).toEqual({
        line,
        ok: true,
        kept: true,
      })
    }
    expect(asked.questions).toEqual([])
    expect(readFileSync(join(kogu.workspace, 'src/new.js'), 'utf8')).toBe('x\n')
    // It deletes as well, which a file tool would ask about.
    expect(dataOf(await run(kogu, 'npm run build')).changes_kept).toBe(false)
    expect(asked.questions.length).toBe(1)
    // What the same line made and removed again never was.
    await run(kogu, 'touch passing && rm passing && echo kept > kept.txt')
    expect(asked.questions.length).toBe(1)
    expect(readFileSync(join(kogu.workspace, 'kept.txt'), 'utf8')).toBe('kept\n')
  })

  test.each(['read-only', 'auto'])(
    'keep nothing by themselves, and ask nobody, in the mode %s',
    async mode => {
      const asked = answering(YES)
      const kogu = await open(`mode = "${mode}"\n`, asked)
      const before = treeOf(kogu.workspace)
      const results = await inPairs(CHANGES, async line => ({ line, result: await run(kogu, line) }))
      for (const { line, result } of results)
        expect({ line, kept: dataOf(result).changes_kept }).toEqual({ line, kept: false })
      expect(asked.questions).toEqual([])
      expect(treeOf(kogu.workspace)).toEqual(before)
    },
  )

  test('keep in the modes read-only and auto only what a rule allows', async () => {
    const rule = '[[permissions.rules]]\npath = "dist/**"\ndecision = "allow"\n'
    for (const [mode, kept] of [
      ['auto', true],
      ['read-only', false],
    ] as const) {
      const kogu = await open(`mode = "${mode}"\n${rule}`)
      expect(dataOf(await run(kogu, 'echo x > dist/x')).changes_kept).toBe(kept)
      expect(dataOf(await run(kogu, 'echo x > dist/y; echo x > src/y')).changes_kept).toBe(false)
      expect(readdirSync(join(kogu.workspace, 'dist')).includes('x')).toBe(kept)
      expect(readdirSync(join(kogu.workspace, 'dist')).includes('y')).toBe(false)
    }
  })

  test('lose all their changes for one path that is denied, which is named', async () => {
    const asked = answering(YES)
    const kogu = await open('[[permissions.rules]]\npath = "gen/**"\ndecision = "deny"\n', asked)
    kogu.write(
      'make.js',
      'const fs = require("fs"); fs.writeFileSync("ok", "1"); fs.mkdirSync("gen"); fs.writeFileSync("gen/x", "2")',
    )
    const result = await run(kogu, 'node make.js')
    expect(dataOf(result).changes_kept).toBe(false)
    expect(result.text).toContain('gen/x')
    expect(asked.questions).toEqual([])
    expect(readdirSync(kogu.workspace)).not.toContain('ok')
  })

  test('may be kept in part', async () => {
    const kogu = await open(
      '',
      answering(question => ({ ...YES, paths: [join(question.cwd, 'out')] })),
    )
    const result = await run(
      kogu,
      'mkdir -p out/deep && echo 1 > out/deep/one && echo 2 > two && rm src/b.js',
    )
    expect(result.effects.map(({ path }) => path.slice(kogu.workspace.length + 1))).toEqual([
      'out',
      'out/deep',
      'out/deep/one',
    ])
    expect(readdirSync(kogu.workspace)).not.toContain('two')
    expect(readFileSync(join(kogu.workspace, 'src/b.js'), 'utf8')).toBe('let c = 3\n')
    expect(result.text).toContain('created two')
  })

  test('are one undo record when they are kept', async () => {
    const kogu = await open('', answering(YES))
    const before = treeOf(kogu.workspace)
    await run(kogu, 'npm run build && echo x > src/new.js')
    expect(treeOf(kogu.workspace)).not.toEqual(before)
    await kogu.runtime.applyUndo(await kogu.runtime.planUndo({ last: 1 }))
    expect(treeOf(kogu.workspace)).toEqual(before)
  })

  test('move the run only when their changes are kept', async () => {
    const kogu = await open('', answering(NO))
    const session = await kogu.runtime.openRun()
    const call = (command: string) =>
      kogu.runtime.call({ tool: 'run_command', input: { command }, run: session.id })
    await call('cd src && touch refused')
    expect((await call('pwd')).text).toBe(kogu.workspace)
    await call('cd src && node -e 1')
    expect((await call('pwd')).text).toBe(join(kogu.workspace, 'src'))
  })

  test.each([
    ['needs the network', 'npm install left-pad'],
    ['contacts a host', 'curl https://example.com'],
    ['publishes', 'npm publish'],
    ['changes the repository', 'git commit -m x'],
    ['throws work away', 'git clean -fdx'],
    ['wants other rights', 'sudo make install'],
    ['goes to the background', 'node test.js &'],
    ['reads a secret', 'cat .env'],
    ['writes a secret', 'echo X=1 >> .env'],
  ])('are asked about before they run when the line %s', async (_why, line) => {
    const asked = answering(NO)
    const kogu = await open('', asked)
    const result = await run(kogu, line)
    expect(result).toMatchObject({ ok: false, error: { code: 'denied' }, durationMs: 0 })
    expect(asked.questions.length).toBe(1)
  })

  test('do not run where a rule asks or denies, or where the setting says so', async () => {
    const rules =
      '[[permissions.rules]]\ncommand = ["make", "**"]\ndecision = "ask"\n[[permissions.rules]]\neffects = ["runs-code"]\ncommand = ["node", "**"]\ndecision = "deny"\n'
    const asked = answering(NO)
    const kogu = await open(rules, asked)
    expect((await run(kogu, 'make')).error?.code).toBe('denied')
    expect(asked.questions.length).toBe(1)
    expect(await run(kogu, 'node test.js')).toMatchObject({ ok: false, decision: { by: 'rule' } })
    const other = answering(NO)
    const asking = await open('[permissions]\ncommands = "ask"\n', other)
    expect((await run(asking, 'node test.js')).ok).toBe(false)
    expect(other.questions.length).toBe(1)
    const refusing = await open('[permissions]\ndefault = "deny"\n')
    expect((await run(refusing, 'node test.js')).ok).toBe(false)
  })

  test('see nothing that may not be read unasked', async () => {
    const kogu = await open()
    writeFileSync(join(kogu.home, 'notes.txt'), 'OUTSIDE')
    mkdirSync(join(kogu.home, '.ssh'))
    writeFileSync(join(kogu.home, '.ssh/id_rsa'), 'OUTSIDE')
    const places = '.env .e?v "$HOME"/notes.txt "$HOME"/.ssh/* ../notes.txt .kogu/* .kogu/*/*'
    kogu.write('spy.sh', `cat ${places} 2>&1; grep -r "TOP[S]ECRET" . /proc/*/root/${kogu.workspace}; true\n`)
    const result = await run(kogu, 'bash spy.sh')
    expect(result.decision.by).toBe('contained')
    expect(result.text).not.toMatch(/TOPSECRET|OUTSIDE/)
  })

  test('leave no layer behind when they changed nothing', async () => {
    const kogu = await open()
    const result = await run(kogu, 'node test.js')
    expect(result.decision.by).toBe('contained')
    await vi.waitFor(() => expect(readdirSync(join(kogu.workspace, '.kogu/overlays'))).toEqual([]))
  })

  test('see no files beside the folders of the root, and no sources of applications elsewhere', async () => {
    const kogu = await open()
    kogu.write(
      'look.sh',
      'find / -maxdepth 1 -type f; find /usr/src /usr/local/src -mindepth 1 2> /dev/null; echo done\n',
    )
    const result = await run(kogu, 'sh look.sh')
    expect([result.decision.by, result.text.trim()]).toEqual(['contained', 'done'])
  })

  test('see no history of a repository within the workspace that holds a secret', async () => {
    const kogu = await open()
    for (const [folder, name] of [
      ['plain', 'a.txt'],
      ['secret', '.env'],
    ] as const) {
      kogu.write(`${folder}/${name}`, `content of ${folder}\n`)
      commit(join(kogu.workspace, folder))
      // What is in the working tree is hidden by its name.
      kogu.write(`${folder}/${name}`, '')
    }
    execFileSync('git', ['clone', '-q', '--bare', 'secret', 'bare'], { cwd: kogu.workspace })
    kogu.write(
      'look.sh',
      'git -C plain show HEAD:a.txt; git -C secret show HEAD:.env; git -C bare show HEAD:.env\n',
    )
    const result = await run(kogu, 'sh look.sh')
    expect(result.decision.by).toBe('contained')
    expect(result.text).toContain('content of plain')
    expect(result.text).not.toContain('content of secret')
  })

  test.each([
    ['elsewhere', folderOutsideTmp()],
    ['below /tmp', '/tmp'],
  ])('work in a working tree beside its repository %s, and leave its index alone', async (_, parent) => {
    const folder = mkdtempSync(join(parent, 'worktree-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'main'))
    writeFileSync(join(folder, 'main/a.txt'), 'one\n')
    commit(join(folder, 'main'))
    execFileSync('git', ['worktree', 'add', '-q', '../tree'], { cwd: join(folder, 'main') })
    writeFileSync(join(folder, 'tree/a.txt'), 'two\n')
    writeFileSync(join(folder, 'tree/look.sh'), 'git status --short; git log --oneline; git diff\n')
    const home = join(folder, 'home')
    const environment = toEnvironment(
      { HOME: home, PATH: process.env.PATH },
      { platform: process.platform, uid: process.getuid?.(), home },
    )
    const loaded = loadConfig({ cwd: join(folder, 'tree'), environment })
    const runtime = await createRuntime({ loaded, environment, approver: answering(NO).approver })
    onTestFinished(() => runtime.close())
    const result = await runtime.call({ tool: 'run_command', input: { command: 'sh look.sh' } })
    expect(result.decision.by).toBe('contained')
    expect(result.text).toMatch(/^ M a.txt\n\?\? look.sh\n[0-9a-f]+ one\ndiff --git[\s\S]*\+two\n?$/)
    expect(result.effects).toEqual([])
  })

  test('that want the network say so, and name the parameter', async () => {
    const kogu = await open()
    const result = await run(
      kogu,
      `node -e "fetch('http://registry.example').catch(e => { console.error(e.cause.code); process.exit(1) })"`,
    )
    expect(dataOf(result).exit_code).toBe(1)
    expect(result.text).toContain('"network"')
  })

  test('that change the same file side by side conflict, and one of them says so', async () => {
    // Each is answered when the other one has run as well, on a layer of its own.
    const both = Promise.withResolvers<void>()
    let asked = 0
    const approver: Approver = {
      async ask() {
        asked += 1
        if (asked === 2) both.resolve()
        await both.promise
        return YES
      },
    }
    const kogu = await open('', { questions: [], approver })
    const results = await Promise.all(['one', 'two'].map(word => run(kogu, `echo ${word} > src/a.js`)))
    expect(results.map(({ ok }) => ok).sort()).toEqual([false, true])
    const [kept, lost] = results[0]?.ok === true ? ['one', results[1]] : ['two', results[0]]
    expect(lost?.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('src/a.js') })
    expect(readFileSync(join(kogu.workspace, 'src/a.js'), 'utf8')).toBe(`${kept}\n`)
  })

  test('are announced by explain', async () => {
    const kogu = await open()
    const explained = await kogu.runtime.explain({ tool: 'run_command', input: { command: 'npm test' } })
    expect(explained).toMatchObject({ decision: 'allow', by: 'contained' })
  })
})

function commit(folder: string): void {
  const git = (...words: string[]): Buffer =>
    execFileSync('git', ['-c', 'user.name=k', '-c', 'user.email=k@k', ...words], { cwd: folder })
  git('init', '-q', '-b', 'main')
  git('add', '-f', '.')
  git('commit', '-q', '-m', 'one')
}

/** Two at a time, as many as the machine that tests has processors. */
async function inPairs<T>(lines: readonly string[], work: (line: string) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let at = 0; at < lines.length; at += 2) {
    results.push(...(await Promise.all(lines.slice(at, at + 2).map(work))))
  }
  return results
}

function dataOf(result: CallResult): Record<string, unknown> {
  return { ...(result.data as Record<string, unknown>) }
}

/** Everything but Kogu's own state, byte for byte. That is not even looked into: layers are removed meanwhile. */
function treeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== '.kogu')
  return Object.assign(
    {},
    ...entries.map(entry => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return { [path]: 'folder', ...treeOf(path) }
      return { [path]: entry.isFile() ? readFileSync(path, 'utf8') : 'other' }
    }),
  )
}

describe.skipIf(noSandbox !== '')(`hard links${noSandbox}`, () => {
  test('that a line parts are named in the question and in the result', async () => {
    const asked = answering(YES)
    const kogu = await open('', asked)
    linkSync(join(kogu.workspace, 'src/a.js'), join(kogu.workspace, 'src/other.js'))
    const parted = 'No longer a hard link; the old content stays under the other names: src/a.js'
    const { text } = await run(kogu, 'echo new > src/a.js')
    expect(JSON.stringify(asked.questions)).toContain(parted)
    expect(text).toContain(parted)
    expect(readFileSync(join(kogu.workspace, 'src/other.js'), 'utf8')).toContain('let a = 1')
  })

  test('that a line makes and writes stay links, and nothing is said', async () => {
    const kogu = await open('', answering(YES))
    const { text } = await run(kogu, 'ln src/a.js src/other.js; echo new > src/a.js')
    expect(text).not.toContain('hard link')
    const [one, other] = ['src/a.js', 'src/other.js'].map(path => statSync(join(kogu.workspace, path)))
    expect([other?.ino, other?.nlink]).toEqual([one?.ino, 2])
  })
})
