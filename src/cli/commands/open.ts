import { sealLink } from '../../server/auth/open-links.ts'
import { readServerFile } from '../../server/server-file.ts'
import { placesFor } from '../../store/places.ts'
import { type Command, flag, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openBrowser } from '../open-browser.ts'
import { loadForCommand } from '../open-runtime.ts'

export const open: Command = {
  help: `
Open the dashboard of this workspace's kogu serve in the browser ($BROWSER, or the system's), and print the link: it signs
one browser in, once and within ten minutes.

  kogu open
  kogu open approvals            opens that page
  kogu open --print              only prints the link

Without a terminal and without $BROWSER, the link is only printed.

Not available inside a Kogu call.
`,
  options: { print: { type: 'boolean' } },
  words: 1,
  async run(context) {
    const { environment, output, positionals, values } = context
    if (environment.insideCall !== undefined)
      throw new UsageError('This is not available inside a Kogu call.')
    const { workspace } = loadForCommand(context)
    const places = placesFor(workspace.root, environment.directories.state)
    const address = readServerFile(places)
    if (address === undefined || !(await isThere(address.url))) {
      output.problem('No kogu serve is running in this workspace.\nStart one: kogu serve')
      return EXIT.notFound
    }
    const page = (positionals[0] ?? '').replace(/^\//, '')
    const secret = sealLink(places.sealKey, { server: address.id, target: `/${page}`, now: Date.now() })
    if (secret === undefined) throw new UsageError(`'${page}' is not the path of a page.`)
    const link = `${address.open}/open?link=${secret}`
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

/** Without any secret: who listens there may be somebody else by now. */
async function isThere(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/api/health`, { redirect: 'error', signal: AbortSignal.timeout(MOST_MS) })
    return true
  } catch (error) {
    // A certificate that this machine does not know: the browser will ask about it.
    const cause = error instanceof TypeError ? error.cause : undefined
    return cause instanceof Error && 'code' in cause && /CERT|ISSUER/.test(String(cause.code))
  }
}
