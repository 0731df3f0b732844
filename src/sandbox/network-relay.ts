// Runs inside the sandbox, between its walls and the command: takes connections on the sandbox's own loopback and passes
// them to the Unix socket of Kogu's proxy, the only way out. The command runs as our child behind a second wall, the
// filter of system calls, which this process cannot have: it needs Unix sockets.
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'

const [, , proxySocket = '', port = '', filterDescriptor = '', file = '', ...args] = process.argv

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

server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(file, args, { stdio: ['inherit', 'inherit', 'inherit', Number(filterDescriptor)] })
  child.on('error', error => {
    process.stderr.write(`kogu: ${error.message}\n`)
    process.exit(125)
  })
  child.on('exit', (code, signal) => {
    if (signal !== null) process.kill(process.pid, signal)
    process.exit(code ?? 125)
  })
})
