/**
 * What a call is going to touch. A tool says it (`Tool.access`, pure), the permission engine judges it.
 * `execute` is expanded by the engine into what the command line reads, writes, contacts and starts.
 */
export type Access =
  | { kind: 'execute'; command: string; cwd?: string }
  | { kind: 'file_read'; path: string }
  | { kind: 'file_write'; path: string }
  | { kind: 'file_delete'; path: string }
  | { kind: 'network'; url: string; method?: string }
  | { kind: 'custom'; name: string; details: string }

export type AccessKind = Access['kind']
