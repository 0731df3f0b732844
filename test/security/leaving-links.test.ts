import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// Links that a contained line leaves behind. Nothing is written through them on the layer, but the person's next `make`
// would write through them outside of it.

/** An archive that any program could have brought. */
const PACK = `import tarfile
archive = tarfile.open("l.tar", "w")
link = tarfile.TarInfo("unpacked")
link.type = tarfile.SYMTYPE
link.linkname = "../../up"
archive.addfile(link)
archive.close()
`

let box: TestRuntime
beforeAll(async () => {
  box = await openTestRuntime('mode = "accept-edits"\n')
  mkdirSync(join(box.workspace, 'src'))
  symlinkSync(box.home, join(box.workspace, 'away'))
  box.write('pack.py', PACK)
})
afterAll(() => box.close())

const run = (command: string) => box.runtime.call({ tool: 'run_command', input: { command } })

describe.skipIf(noSandbox !== '')(`links that a contained line makes${noSandbox}`, () => {
  test.each([
    ['ln -s /etc/hosts out', 'out -> /etc/hosts'],
    ['ln -s ../beside out', 'out -> ../beside'],
    ['ln -s nowhere/../../up out', 'out -> nowhere/../../up'],
    ['cd src && ln -s ../away/notes.txt out', 'src/out -> ../away/notes.txt'],
    ['ln -s src/in out && ln -s ../../up src/in', 'out -> src/in'],
    ['mkdir -p a/b && ln -s ../../x a/b/l && mv a/b/l .', 'l -> ../../x'],
    ['ln -s one two && ln -s two one', 'one -> two'],
    ['python3 pack.py && mkdir new && tar xf l.tar -C new', 'new/unpacked -> ../../up'],
    ['ln -s .git/hooks out', 'out -> .git/hooks'],
  ])('are asked about by name, also where edits are accepted: %s', async (line, named) => {
    const { text } = await run(line)
    expect(text).toContain('Its changes were not kept: ')
    expect(text).toContain('leads out of the workspace, or to files that tools run by themselves')
    expect(text).toContain(named)
    expect(readdirSync(box.workspace).sort()).toEqual(['.kogu', 'away', 'pack.py', 'src'])
  })

  test('are kept unasked inside the workspace, and hard links lead to nothing outside', async () => {
    const { error } = await run('ln -s src in && ln -s "$PWD/src/new" src/abs && ln -s ../in/new src/rel')
    expect(error).toBeNull()
    expect(readdirSync(join(box.workspace, 'src')).sort()).toEqual(['abs', 'rel'])
    for (const line of ['ln /etc/hostname hard', 'ln /usr/bin/env hard']) {
      await run(line)
      expect([line, readdirSync(box.workspace).includes('hard')]).toEqual([line, false])
    }
  })
})
