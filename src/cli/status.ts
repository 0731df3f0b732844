import { existsSync, readdirSync } from 'node:fs'
import type { Environment } from '../config/environment.ts'
import { inspectConfig } from '../config/load.ts'
import { counted } from '../core/counted.ts'
import { toLine } from '../core/visible.ts'
import { openModels } from '../models.ts'
import { placesFor } from '../store/places.ts'
import { EXIT } from './exit-codes.ts'
import type { Output } from './output.ts'
import { VERSION } from './version.ts'

/** `kogu` alone, on a terminal: where one is, what waits, and what could be next. Starts nothing. */
export function showStatus(environment: Environment, output: Output): number {
  const { loaded, errors } = inspectConfig({ cwd: process.cwd(), environment })
  output.data(`kogu ${VERSION}`)
  if (loaded === undefined) {
    output.data(`The configuration has ${counted(errors.length, 'error')}: kogu config validate`)
    return EXIT.config
  }
  const { workspace, trust, config } = loaded
  const model = openModels(loaded, environment).defaultId()
  const places = placesFor(workspace.root, environment.directories.state)
  const waiting = existsSync(places.waiting)
    ? readdirSync(places.waiting).filter(name => /^q-[0-9a-f]+$/.test(name)).length
    : 0
  const untrusted = trust.status === 'untrusted' || trust.status === 'changed'
  const lines = [
    `workspace  ${toLine(workspace.root)}  mode ${config.mode}`,
    ...(untrusted ? ['           its settings are not trusted yet: kogu config trust'] : []),
    `model      ${model === undefined ? 'none: set a key, or see kogu run --help' : toLine(model)}`,
    ...(waiting === 0 ? [] : [`waiting    ${counted(waiting, 'question')}: kogu approvals list`]),
    '',
    'kogu run "…"              give a model a task',
    'kogu call TOOL JSON       run a tool yourself',
    'kogu mcp install CLIENT   give the tools to another agent',
    'kogu doctor               is everything there?      kogu --help: all commands',
  ]
  output.data(lines.join('\n'))
  return EXIT.ok
}
