#!/usr/bin/env node
// The program. Everything is imported when it is needed: `kogu --version` loads this file and little else.
import { readEnvironment } from '../config/environment.ts'
import { keepCompiledCode } from './compiled-code.ts'

const environment = readEnvironment()
keepCompiledCode(environment)
const { run } = await import('./run.ts')
process.exitCode = await run(process.argv.slice(2), environment)
