// `npm run check`: format, lint, types, architecture.
import { runStaticChecks, runTool } from './steps.ts'

const clean = runStaticChecks()
const sound = runTool('architecture', 'vitest/vitest.mjs', ['run', 'test/architecture.test.ts'])
process.exit(clean && sound ? 0 : 1)
