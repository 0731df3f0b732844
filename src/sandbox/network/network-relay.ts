// Runs inside the sandbox's network, beside the command but out of its sight, and keeps the only ways across its wall:
// from the sandbox's own loopback to Unix sockets of Kogu, and from Unix sockets to ports of that loopback. Each
// argument is one way, FROM=TO: a number is a port, anything else the path of a socket. It says `ready` once it listens.
// It imports nothing of ours, because the sandbox may see this one file only.
import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'

const MOST_CONNECTIONS = 1000

// Only the user, and root, may connect to the sockets it makes.
process.umask(0o077)
await Promise.all(process.argv.slice(2).map(open))
process.stdout.write('ready\n')

async function open(way: string): Promise<void> {
  const [from = '', to = ''] = way.split('=')
  if (!isPort(from)) {
    // Left by an attempt that failed: the command cannot put anything there.
    rmSync(from, { force: true })
    await listen(to, { path: from })
    return
  }
  await listen(to, { host: '127.0.0.1', port: Number(from) })
  // Not every machine has IPv6.
  await listen(to, { host: '::1', port: Number(from) }).catch(() => undefined)
}

function listen(to: string, place: { path: string } | { host: string; port: number }): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, client => join(client, reach(to)))
  server.maxConnections = MOST_CONNECTIONS
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(place, () => resolve(server))
  })
}

/** A port is looked for at 127.0.0.1, then at ::1: servers that bind to `localhost` may listen to one of them only. */
function reach(to: string): Socket {
  if (!isPort(to)) return connect({ path: to, allowHalfOpen: true })
  return connect({
    host: 'localhost',
    port: Number(to),
    allowHalfOpen: true,
    autoSelectFamily: true,
    // A refusal comes at once; on a busy machine, the default of 250 ms would give up a server that is there.
    autoSelectFamilyAttemptTimeout: 10_000,
    // Not by name: the files that say what `localhost` is could say anything.
    lookup: (_name, _options, found) =>
      found(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]),
  })
}

function join(one: Socket, other: Socket): void {
  one.pipe(other)
  other.pipe(one)
  const end = (): void => {
    one.destroy()
    other.destroy()
  }
  one.on('error', end)
  other.on('error', end)
}

function isPort(text: string): boolean {
  return /^\d+$/.test(text)
}
