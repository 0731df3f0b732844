import { parseDuration } from '../../core/duration.ts'
import { toLine } from '../../core/visible.ts'
import { makeToken, openTokens, SCOPES, type Scope } from '../../server/auth/tokens.ts'
import { type Command, type CommandContext, flag, textOption, UsageError, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { table } from '../output.ts'

export const tokens: Command = {
  help: `
Bearer tokens for programs that talk to kogu serve.

  kogu tokens create ci --scope read --scope run --expires 30d
  kogu tokens list
  kogu tokens revoke tok_4f9c12ab34cd

A token works only with the server of the workspace where it is created; --all-workspaces: with all of your servers.
Scopes: read (look at everything), run (call tools, start runs, undo), approve (answer questions), admin (settings).
The token is printed once; only its hash is kept.
`,
  options: {
    scope: { type: 'string', multiple: true },
    expires: { type: 'string' },
    'all-workspaces': { type: 'boolean' },
  },
  words: 2,
  async run(context) {
    const [verb = 'list', subject] = context.positionals
    switch (verb) {
      case 'create':
        return create(context, subject)
      case 'list':
        return list(context)
      case 'revoke':
        return revoke(context, subject)
      default:
        throw unknownVerb('tokens', verb, ['create', 'list', 'revoke'])
    }
  },
}

async function create(context: CommandContext, name: string | undefined): Promise<number> {
  if (name === undefined)
    throw new UsageError('What is it for?', 'For example: kogu tokens create ci --scope read')
  refuseInsideCall(context)
  const scopes = readScopes(context.values.scope)
  const expires = textOption(context.values, 'expires')
  const lifetimeMs = expires === undefined ? undefined : parseDuration(expires)
  if (expires !== undefined && lifetimeMs === undefined)
    throw new UsageError(`--expires takes a duration such as 30d, not '${expires}'.`)
  const now = new Date()
  const workspace = flag(context.values, 'all-workspaces') ? null : loadForCommand(context).workspace.root
  const made = makeToken(name, scopes, {
    now,
    workspace,
    ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
  })
  await openTokens(context.environment.directories.state).add(made.stored)
  const { id, expiresAt } = made.stored
  if (context.output.json)
    context.output.object({ id, name, scopes, workspace, expires_at: expiresAt, token: made.token })
  else {
    context.output.data(made.token)
    context.output.note(
      `${id} with ${scopes.join(', ')}, for ${shownWorkspace(workspace)}. It is not shown again; revoke it with: kogu tokens revoke ${id}`,
    )
  }
  return EXIT.ok
}

function list({ output, environment }: CommandContext): number {
  const all = openTokens(environment.directories.state).list()
  if (output.json) output.object(all.map(({ sha256: _, ...token }) => token))
  else if (all.length === 0) output.note('There are no tokens.')
  else
    output.data(
      table(
        all.map(({ id, name, scopes, workspace, expiresAt }) => [
          ...[id, name, scopes.join(','), expiresAt ?? 'never', shownWorkspace(workspace)],
        ]),
      ),
    )
  return EXIT.ok
}

async function revoke(context: CommandContext, id: string | undefined): Promise<number> {
  if (id === undefined) throw new UsageError('Which one?', 'See: kogu tokens list')
  refuseInsideCall(context)
  const removed = await openTokens(context.environment.directories.state).remove(id)
  if (context.output.json) context.output.object({ ok: removed, id })
  else context.output.note(removed ? `Revoked ${id}.` : `There is no token '${id}'.`)
  return removed ? EXIT.ok : EXIT.notFound
}

function shownWorkspace(workspace: string | null | undefined): string {
  return workspace == null ? 'all workspaces' : toLine(workspace)
}

/** An agent must not make itself a token. */
function refuseInsideCall({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
}

function readScopes(given: unknown): Scope[] {
  const wanted = Array.isArray(given) ? given.map(String) : ['read']
  return wanted.map(name => {
    const scope = SCOPES.find(known => known === name)
    if (scope === undefined) throw new UsageError(`--scope takes ${SCOPES.join(', ')}, not '${name}'.`)
    return scope
  })
}
