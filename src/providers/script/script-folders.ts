import { join, resolve } from 'node:path'

/** Where scripts lie: Kogu's own folder, and those of the configuration. */
export function scriptFolders(state: string, workspace: string, configured: readonly string[]): string[] {
  return [join(state, 'scripts'), ...configured.map(folder => resolve(workspace, folder))]
}
