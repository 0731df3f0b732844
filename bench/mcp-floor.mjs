// The least that any server costs its client: answers every call with the same file, at once and unchecked.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

let text
createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize') {
    const { protocolVersion } = params
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'floor', version: '0' } })
    return
  }
  text ??= readFileSync(params.arguments.path, 'utf8')
  answer(id, { content: [{ type: 'text', text }] })
})

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
