// Runs inside the sandbox's network, beside the command but out of its sight: takes connections on the sandbox's own
// loopback and passes them to the Unix socket of Kogu's proxy, the only way out. It says `ready` once it listens.
import { connect, createServer } from 'node:net'

const [, , proxySocket = '', port = ''] = process.argv

const server = createServer({ allowHalfOpen: true }, client => {
  const proxy = connect({ path: proxySocket, allowHalfOpen: true })
  client.pipe(proxy)
  proxy.pipe(client)
  const end = (): void => {
    client.destroy()
    proxy.destroy()
  }
  client.on('error', end)
  proxy.on('error', end)
})

server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))
