import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { interleave } from './measure.ts'
import { type Row, toRow } from './table.ts'

const ROOT = dirname(import.meta.dirname)
const PROGRAM = join(ROOT, 'dist/kogu.js')
const ROUNDS = 25

/** The built program, each time a new process, beside a Node that does nothing. */
export async function measureStart(): Promise<Row[]> {
  buildWhenOutdated()
  const home = mkdtempSync(join(tmpdir(), 'kogu-bench-start-'))
  try {
    const workspace = join(home, 'project')
    mkdirSync(join(workspace, '.git'), { recursive: true })
    writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\n')
    const start = (...args: readonly string[]): void => {
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd: workspace,
        env: { HOME: home, PATH: '/usr/bin:/bin' },
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`)
    }
    const samples = await interleave(ROUNDS, {
      help: { run: () => start(PROGRAM, '--help') },
      call: { run: () => start(PROGRAM, 'call', 'read_file', '{"path":"a.txt"}') },
      explain: { run: () => start(PROGRAM, 'explain', 'run_command', '{"command":"git log | head"}') },
      complete: { run: () => start(PROGRAM, '__complete', '--', 'call', 'read') },
      node: { run: () => start('-e', '0') },
    })
    const peer = { name: 'node -e 0', samples: samples.node }
    return [
      toRow({ name: 'kogu --help', kogu: samples.help, peer, target: { ms: 60 } }),
      toRow({ name: 'kogu call read_file', kogu: samples.call, peer }),
      toRow({ name: 'kogu explain run_command', kogu: samples.explain, peer }),
      toRow({
        name: 'what Tab asks for: a name of a tool',
        kogu: samples.complete,
        peer,
        target: { ms: 100 },
      }),
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

export function buildWhenOutdated(): void {
  if (existsSync(PROGRAM) && newestSource() < statSync(PROGRAM).mtimeMs) return
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The build failed: ${stderr}`)
}

function newestSource(): number {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return Math.max(...sources.map(path => statSync(join(ROOT, 'src', path)).mtimeMs))
}
