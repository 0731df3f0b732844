import { makeToken, openTokens, SCOPES } from '../../server/auth/tokens.ts'
import { readServerFile } from '../../server/server-file.ts'
import { placesFor } from '../../store/places.ts'
import { type Command, type CommandContext, flag, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openBrowser } from '../open-browser.ts'
import { loadForCommand } from '../open-runtime.ts'

export const open: Command = {
  help: `
Open the dashboard of this workspace's kogu serve in the browser ($BROWSER, or the system's), and print the link: it signs
one browser in, once and within ten minutes.

  kogu open
  kogu open approvals            leads to that page
  kogu open --print              only prints the link

Without a terminal and without $BROWSER, the link is only printed.

Not available inside a Kogu call.
`,
  options: { print: { type: 'boolean' } },
  words: 1,
  async run(context) {
    const { environment, output, positionals, values } = context
    if (environment.insideCall !== undefined) throw new UsageError('Not from inside a Kogu call.')
    const { workspace } = loadForCommand(context)
    const places = placesFor(workspace.root, environment.directories.state)
    const address = readServerFile(places)
    const path = address === undefined ? undefined : await askForLink(context, address.url, positionals[0])
    if (address === undefined || path === undefined) {
      output.problem('No kogu serve is running in this workspace.\nStart one: kogu serve')
      return EXIT.notFound
    }
    const link = `${address.open}${path}`
    if (output.json) output.object({ url: address.url, open: link })
    else output.data(link)
    const mayOpen = process.stdout.isTTY === true || (environment.variables.BROWSER ?? '') !== ''
    if (
      mayOpen &&
      !output.json &&
      !flag(values, 'print') &&
      !(await openBrowser(environment, workspace.root, link))
    )
      output.note('No browser could be started. Open the link yourself.')
    return EXIT.ok
  },
}

const MOST_MS = 5_000

/** With a token that lives for this one request: whoever can write the file of tokens may do everything anyway. */
async function askForLink(
  { environment }: CommandContext,
  url: string,
  page = '',
): Promise<string | undefined> {
  const tokens = openTokens(environment.directories.state)
  const { token, stored } = makeToken('kogu open', SCOPES, { now: new Date(), lifetimeMs: MOST_MS * 2 })
  await tokens.add(stored)
  try {
    const response = await fetch(`${url}/api/auth/link`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ target: `/${page.replace(/^\//, '')}` }),
      signal: AbortSignal.timeout(MOST_MS),
    })
    const answer: unknown = await response.json()
    if (typeof answer === 'object' && answer !== null && 'path' in answer) return String(answer.path)
    throw new UsageError(`'${page}' is not the path of a page.`)
  } catch (error) {
    // Nobody listens there any more.
    if (error instanceof TypeError && isUnknownCertificate(error.cause))
      throw new UsageError(
        'This machine does not know the certificate of kogu serve.',
        'Use the link that kogu serve has printed.',
      )
    if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError'))
      return undefined
    throw error
  } finally {
    await tokens.remove(stored.id)
  }
}

function isUnknownCertificate(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return /CERT|ISSUER/.test(code)
}
