import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { interleave } from './measure.ts'
import { type Row, toPlainRow, toRow } from './table.ts'
import { openTemporaryRuntime } from './temporary-runtime.ts'

const ROUNDS = 20
/** What anybody would write by hand, with the same namespaces as ours. */
const BARE_BUBBLEWRAP =
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /run --unshare-all --die-with-parent --new-session --cap-drop ALL'.split(
    ' ',
  )

/** Lines that run first and are judged by what they changed: the whole call, beside the same program bare. */
export async function measureContained(): Promise<Row[]> {
  const box = await openTemporaryRuntime()
  try {
    writeFileSync(join(box.workspace, 'package.json'), '{"name":"small","scripts":{"test":"node --test"}}\n')
    writeFileSync(
      join(box.workspace, 'small.test.js'),
      'const test = require("node:test"); for (let i = 0; i < 20; i += 1) test("t" + i, async () => { let x = 0; for (let j = 0; j < 1e7; j += 1) x += j; if (x < 0) throw new Error() })\n',
    )
    const call = (command: string) => async (): Promise<void> => {
      const { decision } = await box.call('run_command', { command })
      if (decision.by !== 'contained') throw new Error(`${command} was not contained: ${decision.reason}`)
    }
    const environment = { PATH: process.env.PATH ?? '', HOME: join(box.workspace, '..') }
    const bare = (file: string, args: readonly string[]) => (): Promise<void> =>
      ended(file, args, box.workspace, environment)
    const times = await interleave(ROUNDS, {
      nothing: { run: call('sh -c true') },
      bubblewrap: { run: bare('bwrap', [...BARE_BUBBLEWRAP, '/bin/sh', '-c', 'true']) },
    })
    const tests = await interleave(Math.ceil(ROUNDS / 2), {
      contained: { run: call('npm test') },
      bare: { run: bare('npm', ['test']) },
    })
    return [
      toRow({
        name: 'contained `sh -c true`, the whole call',
        kogu: times.nothing,
        peer: { name: 'bare bubblewrap', samples: times.bubblewrap },
        target: { ratio: 3 },
      }),
      toRow({
        name: 'contained `npm test` of a small project',
        kogu: tests.contained,
        peer: { name: 'bare', samples: tests.bare },
        target: { ratio: 1.15 },
      }),
      analysisLines(),
    ]
  } finally {
    await box.close()
  }
}

/** Lines of `permissions/commands`, without tests and corpora: before lines ran contained, 6542. */
function analysisLines(): Row {
  const folder = join(import.meta.dirname, '../src/permissions/commands')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('corpus'),
  )
  const lines = files
    .map(name => join(folder, name))
    .filter(path => statSync(path).isFile())
    .reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0)
  return toPlainRow({ name: 'lines of permissions/commands', kogu: String(lines), peer: `before ${BEFORE}` })
}

const BEFORE = 6542

function ended(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: 'ignore' })
    child.on('error', reject)
    child.on('exit', code => (code === 0 ? resolve() : reject(new Error(`${file} exited with ${code}`))))
  })
}
