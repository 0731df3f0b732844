// What docs promise about a read, and nothing else: no rules, no validation, no redaction, no limits. The call is on
// record before it runs and before it is answered, each line with the hash of the one before; no link leads the read
// elsewhere; the text has line numbers, the file its hash. Shows how much of a call's time decides nothing.
import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const O_PATH = 0o10000000
const log = openSync(join(process.env.HOME, 'least.jsonl'), 'a', 0o600)
let previous = ''
let seq = 0

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize') {
    const { protocolVersion } = params
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'least', version: '0' } })
    return
  }
  const { path } = params.arguments
  record({ type: 'call-started', call: id, tool: params.name, input: params.arguments })
  const { real, bytes } = read(path)
  const sha256 = hash('sha256', bytes)
  const lines = bytes.toString('utf8').split('\n')
  if (lines.at(-1) === '') lines.pop()
  const text = lines.map((each, index) => `${String(index + 1).padStart(6)}\t${each}`).join('\n')
  record({ type: 'call-finished', call: id, access: [{ kind: 'file_read', path: real }], ok: true })
  answer(id, { content: [{ type: 'text', text }], structuredContent: { path: real, sha256 } })
})

function read(path) {
  const real = realpathSync.native(path)
  const look = openSync(real, O_PATH | constants.O_NOFOLLOW)
  const { size } = fstatSync(look)
  if (readlinkSync(`/proc/self/fd/${look}`) !== real) throw new Error('A link was swapped in.')
  const file = openSync(`/proc/self/fd/${look}`, constants.O_RDONLY | constants.O_NONBLOCK)
  closeSync(look)
  const bytes = Buffer.allocUnsafe(size)
  readSync(file, bytes, 0, size, 0)
  closeSync(file)
  return { real, bytes }
}

function record(event) {
  const body = JSON.stringify({ seq: ++seq, at: new Date().toISOString(), ...event, previous })
  previous = hash('sha256', body)
  writeSync(log, Buffer.from(`${body.slice(0, -1)},"hash":"${previous}"}\n`))
}

function answer(id, result) {
  process.stdout.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`))
}
