import { acceptBuild, discardBuild } from '../pipelines/build/settle-build.ts'
import { type CommandContext, flag } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { openRuntime } from './open-runtime.ts'

/** `kogu pipeline accept ID`. */
export async function accept(context: CommandContext, id: string): Promise<number> {
  const { environment, output, values } = context
  // The mode is about agents, and this is the person's own doing.
  const runtime = await openRuntime({ ...context, values: { ...values, mode: 'ask' } })
  try {
    const parts = { environment, runtime }
    const { how, commit } = await acceptBuild(parts, id, { despiteSensitive: flag(values, 'yes') })
    if (output.json) output.object({ ok: true, id, how, commit })
    else
      output.note(
        how === 'merge'
          ? `Merged as ${commit.slice(0, 10)}. To take it back: git reset --keep HEAD^`
          : `Your branch is now at ${commit.slice(0, 10)}. To take it back: git reset --keep ORIG_HEAD`,
      )
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

/** `kogu pipeline discard ID`. */
export async function discard(context: CommandContext, id: string): Promise<number> {
  const { environment, output } = context
  const runtime = await openRuntime(context)
  try {
    const { build } = await discardBuild({ environment, runtime }, id)
    if (output.json) output.object({ ok: true, id, branch: build?.branch })
    else output.note(`The copy and the branch ${build?.branch} are deleted.`)
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}
