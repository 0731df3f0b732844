/** One simple command under judgement, and the way to make it stricter. */
import type { EffectName } from '../effect-names.ts'
import type { Arg } from './args.ts'
import { note, type Report, type Scope, stricter } from './state.ts'
import type { FoundCommand, Level } from './types.ts'

export interface Call {
  program: string
  args: Arg[]
  scope: Scope
  report: Report
  found: FoundCommand
}

/** Adds a reason and lifts the command's level. */
export function raise(call: Call, level: Level, text: string, effects: EffectName[] = []): void {
  call.found.level = stricter(call.found.level, level)
  for (const effect of effects) {
    if (!call.found.effects.includes(effect)) call.found.effects.push(effect)
    call.report.effects.add(effect)
  }
  if (level !== 'safe')
    note(call.report, level, text, [call.program, ...call.args.map(arg => arg.raw)].join(' ').slice(0, 200))
}

export function noteAssignment(call: Call, word: string): void {
  const name = /^([A-Za-z_]\w*)=/.exec(word)?.[1]
  if (name !== undefined && isDangerousVariable(name)) {
    raise(call, 'dangerous', `Setting ${name} can make other programs run something else.`, [
      'changes-environment',
      'runs-code',
    ])
  }
}

const DANGEROUS_VARIABLE =
  /^(?:PATH|LD_\w+|DYLD_\w+|GIT_\w+|PAGER|MANPAGER|BASH_ENV|ENV|IFS|PROMPT_COMMAND|PS[0-4]|NODE_OPTIONS|NODE_PATH|PYTHON\w*|PERL\w*|RUBY\w*|EDITOR|VISUAL|FCEDIT|SUDO_EDITOR|LESS\w*|BROWSER|SHELLOPTS|BASHOPTS|BASH_FUNC\w*|CDPATH|GLOBIGNORE|TMPDIR|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|GCONV_PATH|LOCPATH|NLSPATH|TERMINFO\w*|RIPGREP_CONFIG_PATH|GREP_OPTIONS|SSH_ASKPASS|SSH_AUTH_SOCK|SUDO_ASKPASS|http_proxy|https_proxy|HTTP_PROXY|HTTPS_PROXY|ALL_PROXY|npm_config_\w+|NPM_CONFIG_\w+|CARGO\w*|RUSTC\w*|RUSTFLAGS|GOFLAGS|GOPROXY|CC|CXX|MAKEFLAGS|MAKEFILES|HOME|PWD|OLDPWD|SHELL|HISTFILE|HISTSIZE|HISTCONTROL|GEM_\w+|BUNDLE_\w+|AWKPATH|AWKLIBPATH|TAR_OPTIONS|ZIPOPT|UNZIP|WGETRC|CURL_HOME|XDG_\w+|KUBECONFIG|DOCKER_HOST|OPENSSL_\w+|SSL_\w+|HOSTALIASES|RES_OPTIONS|MALLOC_\w+|GLIBC_TUNABLES|FPATH|ZDOTDIR|INPUTRC|LUA_\w+|PHP\w*|R_\w+)$/

export function isDangerousVariable(name: string): boolean {
  return DANGEROUS_VARIABLE.test(name)
}
