// A process of its own for bench/files.ts: how much memory and time the end of a huge file takes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTemporaryRuntime } from './temporary-runtime.ts'

const [workspace = '', name = '', lines = ''] = process.argv.slice(2)
const offset = -Number(lines)
const { call, close } = await openTemporaryRuntime({ workspace })
// The first call of a process also loads and compiles what every call needs.
writeFileSync(join(workspace, 'warm.txt'), 'a\nb\n'.repeat(100))
for (let round = 0; round < 3; round += 1) await call('read_file', { path: 'warm.txt', offset })
const before = process.memoryUsage.rss()
const started = performance.now()
await call('read_file', { path: name, offset })
const ms = performance.now() - started
// The peak, so that what was freed again counts too.
const extraBytes = process.resourceUsage().maxRSS * 1024 - before
console.log(JSON.stringify({ ms, extraBytes }))
await close()
