/**
 * Child process of the audit tests: writes events and prints, after `record` has returned, the number of each.
 * Arguments: folder of the log, folder of the anchors, name of this writer, how many events (0: until it is killed).
 */
import { writeSync } from 'node:fs'
import { createRedactor } from '../../src/core/redact.ts'
import { openAuditLog } from '../../src/store/audit/log.ts'

const [directory = '', anchorDirectory = '', name = '', count = '0', segmentBytes = '16777216'] =
  process.argv.slice(2)
const log = openAuditLog({
  directory,
  anchorDirectory,
  redact: createRedactor(),
  segmentBytes: Number(segmentBytes),
  syncMs: 5,
})
const limit = Number(count)
for (let number = 1; limit === 0 || number <= limit; number += 1) {
  // Now and then a long one, so that a kill can meet a write half done.
  const details = { name, number, filling: 'x '.repeat(number % 20 === 0 ? 4_000 : 50) }
  log.record({ type: 'note', action: 'written', details })
  writeSync(1, `${number}\n`)
  // Lets the sync timer run.
  if (number % 10 === 0) await new Promise(resolve => setImmediate(resolve))
}
await log.close()
