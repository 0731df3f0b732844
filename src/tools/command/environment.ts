import type { CommandPermit } from '../../core/command.ts'
import type { Run } from '../../core/run.ts'
import { trustedPath } from './find-program.ts'
import type { CommandParts } from './parts.ts'

/** Set in everything a command starts: a Kogu that finds it never approves, trusts, grants or undoes. */
const MARKER = 'KOGU_CALL'

/** The whole environment of a command: nothing is inherited but what the configuration names. */
export function environmentFor(
  parts: CommandParts,
  permit: CommandPermit,
  call: { id: string; run: Pick<Run, 'variables'>; additions: Readonly<Record<string, string>> },
): Record<string, string> {
  const base = {
    ...parts.variables,
    HOME: parts.home,
    PATH: trustedPath(parts.path, parts.workspace).join(':'),
    SHELL: '/bin/bash',
    TERM: 'dumb',
    // Programs that would open a pager or an editor must not wait for a person.
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
  }
  // Variables of earlier calls could change what a line does that was judged by its words alone.
  const own =
    permit.plan === null ? { ...Object.fromEntries(call.run.variables), ...call.additions } : NEUTRAL_GIT
  return {
    ...base,
    ...(permit.contained === true ? CONTAINED : permit.unasked === true ? UNASKED : {}),
    ...own,
    [MARKER]: call.id,
  }
}

// A repository can name programs that git runs by itself: monitors, hooks, editors. Lines that run without a person's
// approval get none of them. Diff programs and text converters are switched off by options (command-permit.ts), since an empty
// `diff.external` makes git fail. Filters (`filter.*.clean`) cannot be switched off: where a repository has some, lines
// that could start them are asked about.
export const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  // Other values start a git in each submodule, which options do not reach.
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['safe.directory', '*'],
  ['commit.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['gpg.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['format.pretty', 'medium'],
]

export const NEUTRAL_GIT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_EDITOR: 'false',
  GIT_ASKPASS: 'false',
  // Stands above `protocol.ext.allow` of a repository, which runs a program to fetch objects that are missing.
  GIT_ALLOW_PROTOCOL: 'none',
  // A project file could name another toolchain, which would then be fetched and run.
  GOTOOLCHAIN: 'local',
  ...gitSettings(GIT_SETTINGS),
}

/** Variables that give git settings above those of any file. */
export function gitSettings(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(variables) }
}

const CONTAINED = {
  // Programs that look for newer versions of themselves wait for an answer that never comes.
  NO_UPDATE_NOTIFIER: '1',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  // `git diff` would write the index anew, a change that nobody wants to be told of.
  ...gitSettings([
    ['diff.autoRefreshIndex', 'false'],
    // Where objects are hidden, git may be told to fetch what is missing by a program.
    ['protocol.ext.allow', 'never'],
  ]),
}

/** A folder that a line brings along could have the layout of a repository, with settings and hooks. */
const UNASKED = gitSettings([['safe.bareRepository', 'explicit']])

// What steers programs rather than telling them something: how later commands are found, started, built, configured,
// shown or connected. A person approved the line that exported it, not what a later line would then do.
const STEERS = new RegExp(
  `^(${[
    'HOME|PWD|OLDPWD|SHLVL|SHELL|TERM|USER|LOGNAME|IFS|ENV|CDPATH|MAILCHECK|PS\\d|TMP|TEMP|TMPDIR|BROWSER|VISUAL|HOSTALIASES',
    'CC|CPP|CXX|LD|AR|AS|NM|MAKE|VIRTUAL_ENV|WGETRC|CURL_HOME|CLASSPATH|MANPATH|GLOBIGNORE|SHELLOPTS',
    '.*(PATH|FLAGS|OPTIONS|OPTS|PAGER|EDITOR|PROXY|COMMAND|PROGRAM|_CONFIG|_CONFIG_FILE|_RC|RCFILE)',
    '(BASH|ZSH|HIST|LD_|DYLD_|GIT|SSH|GPG|NODE|NPM|YARN|PNPM|BUN|DENO|COREPACK|PYTHON|PIP|UV_|POETRY|CONDA|PERL|RUBY|GEM_|BUNDLE)\\w*',
    '(CARGO|RUSTC|RUSTUP|RUSTDOC|GO(FLAGS|ROOT|PROXY|TOOLCHAIN|ENV|BIN|OS|ARCH|SUMDB|PRIVATE|WORK)|CGO_|JAVA|JDK|JVM|MAVEN|GRADLE|ANT_)\\w*',
    '(CMAKE|PKG_CONFIG|GCC|LIBRARY|LESS|MAN|RIPGREP|FZF|GREP|TAR|ZIP|UNZIP|SSL|OPENSSL|CURL|DOCKER|KUBE|COMPOSER|PHP|LUA|XDG|KOGU|GLIBC|MALLOC)_?\\w*',
  ].join('|')})$`,
)

/** Whether a variable that a command exported is there for the next one of the run. */
export function isKept(name: string): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(name) && !STEERS.test(name)
}
