import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { findScripts } from '../src/providers/script/find-scripts.ts'
import { scriptMachine } from '../src/providers/script/script-folders.ts'
import { findUsableSystem } from '../src/sandbox/walls/detect-usable.ts'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { connectToKogu } from './support/mcp-client.ts'

let machine: Sandboxed
beforeEach(() => {
  machine = createSandboxed()
})
afterEach(() => machine.remove())

const COUNT = `#!/usr/bin/env python3
# kogu tool
# description = "Count the characters of a text"
# risk = "low"
# [parameters.text]
# description = "The text"
# [parameters.times]
# type = "integer"
# default = 1
import sys, json
given = json.load(sys.stdin)
print(json.dumps({"characters": len(given["text"]) * given["times"]}))
`

function script(name: string, text: string): void {
  mkdirSync(join(machine.workspace, '.kogu', 'scripts'), { recursive: true })
  writeFileSync(join(machine.workspace, '.kogu', 'scripts', name), text)
}

/** As a person does who has read it. */
function trust(name: string): void {
  const { sha256 } = machine.json(['tools', 'trust', name])
  expect(machine.run(['tools', 'trust', name, sha256]).code).toBe(0)
}

describe.skipIf(typeof findUsableSystem() === 'string')('scripts of the workspace', () => {
  test('are held until somebody trusts them, and held again when they change', () => {
    script('count.py', COUNT)
    const call = () => machine.json(['call', 'count', '{"text":"héllo","times":2}', '--yes-once'])
    expect(call().error).toMatchObject({
      code: 'unknown_tool',
      hint: expect.stringContaining('kogu tools trust count'),
    })
    trust('count')
    expect(call()).toMatchObject({ ok: true, data: { characters: 10 }, tool: 'count' })
    script('count.py', `${COUNT}print("more")\n`)
    expect(call().error).toMatchObject({ code: 'unknown_tool' })
  })

  test('of JavaScript and TypeScript run unasked too, wherever the Node of Kogu is installed', () => {
    const header = '// kogu tool\n// description = "Greets"\n'
    script('plain.js', `${header}process.stdin.on('data', text => console.log('js ' + text))\n`)
    script('typed.ts', `${header}process.stdin.on('data', (text: Buffer) => console.log('ts ' + text))\n`)
    for (const name of ['plain', 'typed']) {
      trust(name)
      // Without an answer to any question: contained, it sees only a part of the machine.
      expect(machine.json(['call', name, '{}'])).toMatchObject({
        ok: true,
        data: { stdout: expect.stringMatching(/^[jt]s \{\}\n$/) },
      })
    }
  })

  test('lie in folders of the configuration as well, or are all off', () => {
    machine.write('tools/count.py', COUNT)
    machine.configure('[tools.scripts]\nfolders = ["tools"]\n')
    trust('count')
    const call = () => machine.json(['call', 'count', '{"text":"abc"}', '--yes-once'])
    expect(call()).toMatchObject({ data: { characters: 3 } })
    machine.configure('[tools.scripts]\nfolders = ["tools"]\nenabled = false\n')
    expect(call().error).toMatchObject({ code: 'unknown_tool' })
  })

  test('run what was trusted, and load nothing that an agent put beside them', () => {
    const beside = 'import os\nprint(os.listdir(os.path.dirname(__file__)), flush=True)\n'
    machine.write('tools/count.py', `${COUNT}${beside}`)
    machine.write(
      'tools/plain',
      `#!/bin/sh\n# kogu tool\n# description = "Says where it is"\nls "$(dirname "$0")"\n`,
    )
    chmodSync(join(machine.workspace, 'tools/plain'), 0o755)
    machine.configure('[tools.scripts]\nfolders = ["tools"]\n')
    trust('count')
    trust('plain')
    machine.write('tools/json.py', 'print("planted", flush=True)\nraise SystemExit(0)\n')
    const counted = machine.json(['call', 'count', '{"text":"abc"}', '--yes-once'])
    expect(counted.data).toMatchObject({ stdout: `{"characters": 3}\n['count.py']\n` })
    expect(machine.json(['call', 'plain', '{}', '--yes-once'])).toMatchObject({ data: { stdout: 'plain\n' } })
  })

  test('run by no program that an agent can write, whatever their #! line names', () => {
    machine.configure('[tools.scripts]\nfolders = ["tools"]\n')
    machine.write('bin/run', '#!/bin/sh\necho planted\n')
    chmodSync(join(machine.workspace, 'bin/run'), 0o755)
    symlinkSync(join(machine.workspace, 'bin/run'), join(machine.home, 'link'))
    const here = { directories: { state: '/state', config: '/config' }, variables: { HOME: machine.home } }
    const write = (first: string): void => {
      machine.write('tools/plain', `${first}\n# kogu tool\n# description = "Says who runs it"\necho own\n`)
      chmodSync(join(machine.workspace, 'tools/plain'), 0o755)
    }
    for (const first of [
      `#!${machine.workspace}/bin/run`,
      '#! bin/run',
      '#!./bin/run',
      '#!/tmp/run',
      `#!${machine.home}/link`,
      `#!/proc/self/cwd/bin/run`,
      `#!/./proc/self/cwd/bin/run`,
      '#!/var/run/../proc/self/cwd/bin/run',
      `#!/usr/../proc/self/cwd/bin/run`,
      '#!/usr/bin/env bin/run',
      '#!/usr/bin/env -S bin/run',
      '#!/usr/bin/env PATH=bin run',
      '#!/usr/bin/env -C bin run',
      `#!/usr/bin/env -S sh ${machine.workspace}/bin/run`,
      '#!/bin/sh bin/run',
      '#!/bin/sh run',
      '#!/usr/bin/python3 -mrun',
      '#!/usr/bin/awk -frun',
      '#!/usr/bin/env -S node -r./x.js',
      '#!/usr/bin/env -S node --require=x',
      '#!/usr/bin/env -S awk -f -e',
    ]) {
      write(first)
      const { scripts, problems } = findScripts(
        join(machine.workspace, 'tools'),
        scriptMachine(machine.workspace, here),
      )
      expect([first, scripts, problems]).toEqual([first, [], [expect.stringContaining('its #! line')]])
    }
    const { code, stderr } = machine.run(['tools', 'trust', 'plain'])
    expect([code, stderr]).toEqual([9, expect.stringContaining('its #! line')])
    for (const first of ['#!/bin/sh -eu', '#! /usr/bin/env -S bash -e', '#!/usr/bin/env bash']) {
      write(first)
      trust('plain')
      const { data } = machine.json(['call', 'plain', '{}', '--yes-once'])
      expect([first, data.stdout]).toEqual([first, 'own\n'])
    }
  })

  test('are picked up at once, also when their folder comes later', async () => {
    const { client } = await connectToKogu(machine)
    try {
      const found = async () => {
        const { content } = await client.callTool({ name: 'count', arguments: { text: 'ab' } })
        return JSON.stringify(content)
      }
      await expect(found()).rejects.toThrow('Unknown tool')
      script('count.py', COUNT)
      trust('count')
      await vi.waitFor(async () => expect(await found()).toContain('characters'), 10_000)
    } finally {
      await client.close()
    }
  })

  test('write and contact what they declare, and nothing else', () => {
    script(
      'report.py',
      `# kogu tool
# description = "Writes a report"
# writes = ["reports/**"]
# network = ["declared.invalid"]
# [parameters.path]
# [parameters.host]
import sys, json, os, urllib.request
given = json.load(sys.stdin)
os.makedirs(os.path.dirname(given["path"]) or ".", exist_ok=True)
open(given["path"], "w").write("done")
try: urllib.request.urlopen("https://" + given["host"], timeout=5)
except Exception as error: print(error)
`,
    )
    trust('report')
    const call = (path: string, host: string) =>
      machine.json(['call', 'report', JSON.stringify({ path, host }), '--yes-once'])
    const inside = call('reports/2026/a.txt', 'other.invalid')
    expect(inside).toMatchObject({ ok: true })
    expect(inside.decision.notes).toEqual(['It may contact declared.invalid and no other host.'])
    expect(JSON.stringify(inside)).toContain('does not declare this host')
    expect(machine.read('reports/2026/a.txt')).toBe('done')
    const outside = call('elsewhere.txt', 'other.invalid')
    expect(JSON.stringify(outside)).toContain('does not declare that it writes there')
    expect(() => machine.read('elsewhere.txt')).toThrow()
  })

  test('an agent can neither write nor trust one', () => {
    const written = machine.json([
      'call',
      'write_file',
      JSON.stringify({ path: '.kogu/scripts/x.py', content: COUNT }),
      '--yes-once',
    ])
    expect(written.error).toMatchObject({ code: 'forbidden' })
    script('count.py', COUNT)
    expect(machine.run(['tools', 'trust', 'count'], { env: { KOGU_CALL: 'call_x' } }).code).toBe(2)
  })
})

test('trust is for what was shown, not for what an agent has made of it since', () => {
  machine.write('tools/count.py', COUNT)
  machine.configure('[tools.scripts]\nfolders = ["tools"]\n')
  const { code, stderr } = machine.run(['tools', 'trust', 'count'])
  expect(code).toBe(7)
  expect(stderr).toContain('  | given = json.load(sys.stdin)')
  expect(stderr).toContain('risk low, changes nothing, contacts nobody')
  const [, hash = ''] = /kogu tools trust count (\w+)/.exec(stderr) ?? []
  machine.write('tools/count.py', `${COUNT}print("and more")\n`)
  expect(machine.run(['tools', 'trust', 'count', hash])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('tools/count.py has changed since you looked at it.'),
  })
  expect(machine.run(['tools', 'trust', 'count', '']).code).toBe(2)
  machine.write('tools/count.py', COUNT)
  // Two scripts with the same twelve digits are found in seconds.
  expect(machine.run(['tools', 'trust', 'count', hash.slice(0, 12)]).code).toBe(2)
  expect(machine.run(['tools', 'trust', 'count', hash]).code).toBe(0)
})

test('trust shows all that it is for: long scripts, and what is declared beside them', () => {
  const writes = [...Array.from({ length: 100 }, (_, at) => `a-folder-${at}/**`), 'the-last/**']
  script('long.sh', `${'\n'.repeat(3000)}echo the end\n`)
  script('long.toml', `description = "Long"\nwrites = ${JSON.stringify(writes)}\n`)
  const { stderr } = machine.run(['tools', 'trust', 'long'])
  expect(stderr).toContain('  | echo the end')
  expect(stderr).toContain('"the-last/**"')
})

test('of two with one name the first counts, and the other is named', () => {
  script('count.py', COUNT)
  const path = machine.write('tools/count.py', COUNT)
  machine.configure('[tools.scripts]\nfolders = ["tools"]\n')
  expect(machine.run(['tools', 'list']).stderr).toContain(
    `script: ${path} is ignored: another script has the name 'count'.`,
  )
})

test('one whose name is taken says so when it is trusted', () => {
  script('list.sh', '# kogu tool\n# description = "Lists"\nls\n')
  const { sha256 } = machine.json(['tools', 'trust', 'list'])
  expect(machine.run(['tools', 'trust', 'list', sha256]).stderr).toContain(
    "the name 'list' of tool 'list' is taken by 'list_directory' (builtin)",
  )
})

test('one that cannot be used is reported and hides no other', () => {
  script('count.py', COUNT)
  script('broken.py', '# kogu tool\n# description = 5\n')
  script('open.py', '#!/usr/bin/env python3\n# kogu tool\n# description = "d\n')
  script('notes.txt', 'no tool')
  script('x; touch pwned.py', COUNT)
  const { stderr } = machine.run(['tools', 'list'])
  expect(stderr).toContain('broken.py: its declaration is not valid: description')
  expect(stderr).toContain('open.py: its declaration is not valid TOML in line 3: ')
  expect(stderr).toContain("'count' is new or has changed")
  expect(stderr).not.toContain('notes')
  // No command to copy has it as its end.
  expect(stderr).toContain('x; touch pwned.py: its file name cannot be the name of a tool; declare a name')
  expect(stderr).not.toContain('trust x')
})
