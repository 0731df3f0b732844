import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build } from 'vite'

export interface DashboardBuild {
  readonly root: string
  readonly into: string
  /** An earlier build: taken over when it was made from the same sources, because this takes many times longer than the rest. */
  readonly before: string
}

const STAMP = 'built-from'

export async function buildDashboard({ root, into, before }: DashboardBuild): Promise<void> {
  const sources = hashSources(root)
  const stamp = join(before, STAMP)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) {
    cpSync(before, into, { recursive: true, preserveTimestamps: true })
    return
  }
  // A test runner that builds has another one, and the page would get React's development parts with paths of this machine.
  process.env.NODE_ENV = 'production'
  await build({
    configFile: false,
    root: join(root, 'src/dashboard'),
    logLevel: 'warn',
    plugins: [react()],
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: into,
      emptyOutDir: true,
      // Says which file loads which; a test adds up what the first screen loads.
      manifest: 'manifest.json',
      // Every asset has an address of its own: the page's policy allows nothing inline.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: 'es2023',
      // Mermaid's parts are loaded only with a diagram; a test looks at the sizes of the others.
      chunkSizeWarningLimit: 3_000,
    },
  })
  writeFileSync(join(into, STAMP), sources)
}

/** Everything that ends up in the page: its own folder, what it imports, and the versions of the packages. */
function hashSources(root: string): string {
  const hash = createHash('sha256')
  const folder = join(root, 'src/dashboard')
  const own = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.includes('.test.'))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  const others = ['src/client.ts', 'src/core/visible.ts', 'package-lock.json', 'scripts/build-dashboard.ts']
  for (const path of [...own, ...others.map(each => join(root, each))]) {
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}
