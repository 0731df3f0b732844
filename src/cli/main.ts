#!/usr/bin/env node
// The program. Everything is imported when it is needed: `kogu --version` loads this file and little else.
import { enableCompileCache } from 'node:module'

enableCompileCache()
const { run } = await import('./run.ts')
process.exitCode = await run(process.argv.slice(2))
