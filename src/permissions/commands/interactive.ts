/** Programs that take over the terminal (refused, with another way named) and programs that wait for typing (asked). */
import { type Arg, seen } from './args.ts'

const EDIT = 'use edit_file or write_file'
const READ = 'use read_file, or cat, head, tail or `sed -n`'
const SEE = 'use a command that prints once, such as `ps aux` or `top -b -n 1`'
const RUN = 'run the command itself, in the background if it has to go on'

const FULL_SCREEN: ReadonlyMap<string, string> = new Map([
  ...list(
    'vim vi nvim view vimdiff gvim ex nano pico emacs emacsclient micro helix hx joe jed mcedit ne kak ed',
    EDIT,
  ),
  ...list('less more most pg vless zless zmore bzless xzless', READ),
  ...list('man info pinfo', 'use `COMMAND --help`'),
  ...list('top htop btop atop glances iotop iftop nvtop nmon bmon powertop slabtop gtop bpytop', SEE),
  ...list('tmux screen byobu zellij dtach abduco', RUN),
  ...list('watch', 'run the command once, or in a loop with sleep'),
  ...list('mc ranger nnn lf vifm ncdu', 'use ls, find or du'),
  ...list('lazygit tig gitui lazydocker k9s', 'use the git, docker or kubectl commands themselves'),
  ...list('fzf sk peco dialog whiptail gum', 'choose with grep, and ask the person directly'),
  ...list('visudo vipw vigr crontab-e sudoedit', 'propose the change as text'),
  ...list(
    'alsamixer nmtui cfdisk aptitude dselect mutt alpine irssi weechat links2 elinks',
    'use a command that prints once',
  ),
  ...list('sl cmatrix asciiquarium nethack', 'leave it out'),
])

function list(names: string, instead: string): [string, string][] {
  return names.split(' ').map(name => [name, instead])
}

export type Interactive = { refuse: true; instead: string } | { refuse: false; text: string }

export function interactiveCall(program: string, args: Arg[], hasStdin: boolean): Interactive | null {
  const words = args.map(seen)
  const refuse = fullScreen(program, words)
  if (refuse !== null) return { refuse: true, instead: refuse }
  if (hasStdin) return null
  if (/^(?:ssh|mosh|telnet|ftp|sftp)$/.test(program) && sshCommand(words) === null) {
    return { refuse: false, text: `\`${program}\` opens a session on another machine and waits for typing.` }
  }
  return null
}

function fullScreen(program: string, words: string[]): string | null {
  const instead = FULL_SCREEN.get(program)
  if (program === 'top') return words.some(word => /^-?[a-zA-Z]*b/.test(word)) ? null : (instead ?? null)
  if (program === 'emacs' && words.some(word => /^--?(?:batch|script)$/.test(word))) return null
  if (program === 'man' && words.some(word => /^-[fkwW]/.test(word))) return null
  if (
    program === 'tmux' &&
    /^(?:ls|list-|kill-|has-|capture-pane|send-keys|display-message|show-|start-server)/.test(words[0] ?? '')
  )
    return null
  if (program === 'screen' && words.some(word => /^-(?:ls|list|wipe)$/.test(word))) return null
  if (
    (program === 'tmux' && words.includes('-d')) ||
    (program === 'screen' && words.some(word => /^-d?mS?$|^-dm/.test(word)))
  )
    return null
  if (program === 'crontab' && words.includes('-e')) return 'propose the change as text'
  if (program === 'git') return gitFullScreen(words)
  return instead ?? null
}

function gitFullScreen(words: string[]): string | null {
  const at = words.findIndex(word => !word.startsWith('-'))
  const [subcommand = '', ...rest] = words.slice(at)
  const has = (pattern: RegExp): boolean => rest.some(word => pattern.test(word))
  if (subcommand === 'stash' && /^(?:show|list)$/.test(rest[0] ?? '')) return null
  if (subcommand === 'rebase' && has(/^-\w*i\w*$|^--interactive/))
    return 'rebase without -i, or use `git commit --fixup`'
  if (
    /^(?:add|checkout|restore|reset|stash|commit|clean)$/.test(subcommand) &&
    has(/^-(?:p|i)$|^--(?:patch|interactive)$/)
  ) {
    return 'name the files, or apply a patch with `git apply --cached`'
  }
  if (subcommand === 'add' && has(/^-e$|^--edit$/)) return 'name the files'
  if (/^(?:difftool|mergetool|gui|citool|instaweb)$/.test(subcommand)) return 'use `git diff`'
  return null
}

/** The command words of `ssh [options] host command...`, or null when there is none. */
export function sshCommand(words: string[]): string[] | null {
  let i = 0
  while (i < words.length && (words[i] ?? '').startsWith('-')) {
    i += /^-[bcDEeFIiJLlmOopQRSWw]$/.test(words[i] ?? '') ? 2 : 1
  }
  const rest = words.slice(i + 1)
  return rest.length > 0 ? rest : null
}
