/**
 * What a call will touch. The tool declares it (`Tool.access`, pure), the permission engine judges it.
 * `execute` is expanded by the engine into what the command line reads, writes, contacts and starts.
 */
export type Access =
  /** `programs`: all that the line may start; `own`: the tool wrote it, so the list of an agent is not about it. */
  | { kind: 'execute'; command: string; cwd?: string; programs?: 'own' | readonly string[] }
  | { kind: 'file_read'; path: string }
  | { kind: 'file_write'; path: string }
  | { kind: 'file_delete'; path: string }
  | { kind: 'network'; url: string; method?: string }
  /** `paths`: the files concerned. */
  | { kind: 'custom'; name: string; details: string; paths?: readonly string[] }

/** What a tool does as a part of its own work is no line of a model. */
export function toOwnLine(access: Access): Access {
  return access.kind === 'execute' ? { ...access, programs: 'own' } : access
}

export type AccessKind = Access['kind']

/** Calling a tool of an MCP server; `details` names both. */
export const MCP_CALL = 'mcp'
/** A command that may contact any public host. */
export const ANY_HOST = 'any-host'
/** Replacing a file whose current content this run has not read; `details` is its path. */
export const OVERWRITE_UNREAD = 'overwrite_unread'
/** Writing a file that has other names (hard links) too; `details` is its path. */
export const WRITE_HARD_LINK = 'write_hard_link'
/** Losing content that is too large for undo; `details` is a sentence with path and size. */
export const NOT_UNDOABLE = 'not_undoable'
/** Keeping a symlink of a command that leads out of the workspace; `details` is `name -> target`. */
export const LEAVING_LINK = 'leaving_link'
/** Reading a repository without starting any of its programs; `details` is what is read. */
export const GIT_READ = 'git_read'
/** Letting git change files that editors, agents or git itself run; each is one of `paths`, and named in `details`. */
export const PROTECTED_FILES = 'protected_files'
/** Running model-written code in an isolate; `details` names the tool. Its accesses to the outside are judged separately. */
export const ISOLATED_CODE = 'isolated_code'
/** The same without a sandbox around the isolate. */
export const UNWALLED_CODE = 'unwalled_code'
