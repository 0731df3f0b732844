import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Api } from './api.ts'

// The page in the browser: files that the build made, in a folder beside the program. Only names that were in it at the start
// are answered, so no path leads out of it. They hold no data: what they show needs a session.

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const IMMUTABLE = 'public, max-age=31536000, immutable'

export function dashboardRoutes(api: Api, folder: string | undefined = findDashboard()): void {
  if (folder === undefined) return
  const files = new Map(listFiles(folder).map(path => [`/${path.replaceAll(sep, '/')}`, join(folder, path)]))
  const page = files.get('/index.html')
  if (page === undefined) return
  const read = lazyFile()
  api.get('*', async (context, next) => {
    const { path } = context.req
    if (path.startsWith('/api/') || path === '/open') return next()
    const file = files.get(path)
    if (file !== undefined && path !== '/index.html') {
      return context.body(read(file), 200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        // Their names change with their content; the names of the others do not.
        'cache-control': path.startsWith('/assets/') ? IMMUTABLE : 'no-cache',
      })
    }
    // An address of a screen. What looks like a file and is none is not one.
    if (extname(path) !== '' && path.startsWith('/assets/')) return next()
    return context.body(read(page), 200, {
      'content-type': TYPES['.html'] ?? '',
      'cache-control': 'no-store',
    })
  })
}

function lazyFile(): (path: string) => Uint8Array<ArrayBuffer> {
  const known = new Map<string, Uint8Array<ArrayBuffer>>()
  return path => {
    const found = known.get(path) ?? new Uint8Array(readFileSync(path))
    known.set(path, found)
    return found
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/** Beside the program in the users' bundle; in `dist` when the sources run. */
function findDashboard(): string | undefined {
  const candidates = ['./dashboard', '../dashboard', '../../dist/dashboard']
  const paths = candidates.map(candidate => fileURLToPath(new URL(candidate, import.meta.url)))
  return paths.find(path => existsSync(join(path, 'index.html')) && !path.endsWith(join('src', 'dashboard')))
}
