// `npm test`: the system parts that tests need, all checks, all tests. Closes with one line of counts.
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runStaticChecks, runTool } from './steps.ts'
import { installSystemParts, TEST_PARTS } from './system-parts.ts'

installSystemParts(TEST_PARTS)
const clean = runStaticChecks()
const report = join(tmpdir(), `kogu-test-${process.pid}.json`)
// Arguments after `npm test --` name the test files to run.
const tested = runTool('tests', 'vitest/vitest.mjs', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
])
const counts = JSON.parse(readFileSync(report, 'utf8'))
rmSync(report)
const checks = clean ? 0 : 1
const passed = counts.numPassedTests + (1 - checks)
console.log(`\n${passed} passed, ${counts.numFailedTests + checks} failed, ${counts.numPendingTests} skipped`)
process.exit(clean && tested ? 0 : 1)
