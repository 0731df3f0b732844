import type { Setting } from '../../components/setting.tsx'

export interface ConfigFile {
  readonly path: string
  readonly layer: string
  readonly status: 'loaded' | 'missing' | 'untrusted' | 'ignored' | 'invalid'
}

/** What `GET /api/config` answers. */
export interface Config {
  readonly version: string
  readonly workspace: string
  readonly mode: string
  readonly settings: readonly Setting[]
  readonly files: readonly ConfigFile[]
  readonly warnings: readonly { readonly message: string }[]
  readonly trust: string
  readonly problem: string | null
}
