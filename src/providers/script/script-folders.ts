import { join, resolve } from 'node:path'
import { isWritable, outsideContext } from '../../sandbox/outside-program.ts'
import type { ScriptMachine } from './find-scripts.ts'

/** Where scripts lie: Kogu's own folder, and those of the configuration. */
export function scriptFolders(state: string, workspace: string, configured: readonly string[]): string[] {
  return [join(state, 'scripts'), ...configured.map(folder => resolve(workspace, folder))]
}

/** What runs them, and where agents can write. */
export function scriptMachine(
  workspace: string,
  environment: Parameters<typeof outsideContext>[1],
): ScriptMachine {
  const outside = outsideContext(workspace, environment)
  return { node: process.execPath, isWritable: path => isWritable(path, outside) }
}
