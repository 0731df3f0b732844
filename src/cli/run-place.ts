import { placesFor } from '../store/places.ts'
import type { RunPlace } from '../store/tables/run-place.ts'
import { readWorkspaceId } from '../store/workspace-id.ts'
import type { CommandContext } from './command.ts'
import { loadForCommand } from './open-runtime.ts'

/** Whose runs are looked at. Looking makes no id: a folder without one has no runs that carry any. */
export function runPlace(context: CommandContext): RunPlace {
  const { root } = loadForCommand(context).workspace
  const places = placesFor(root, context.environment.directories.state)
  return { workspace: root, workspaceId: readWorkspaceId(places) ?? '' }
}
