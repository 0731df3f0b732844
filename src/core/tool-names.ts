// Names by which programs written for other runtimes call these tools; each is a name or an alias of one of ours.
export const TOOL_WEB_FETCH = 'web_fetch'
export const TOOL_WEB_SEARCH = 'web_search'
export const TOOL_FILE_WRITE = 'file_write'
export const TOOL_SHELL_EXEC = 'shell_exec'
export const TOOL_GIT_OPS = 'git_ops'
export const TOOL_SELF_EVAL = 'self_eval'
