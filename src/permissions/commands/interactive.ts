/** Programs that take over the terminal (refused, with another way named) and programs that wait for typing (asked). */
import { type Arg, entriesFor, seen } from './args.ts'

const EDIT = 'use edit_file or write_file'
const READ = 'use read_file, or cat, head, tail or `sed -n`'
const SEE = 'use a command that prints once, such as `ps aux` or `top -b -n 1`'
const RUN = 'run the command itself, in the background if it has to go on'

const FULL_SCREEN: ReadonlyMap<string, string> = new Map([
  ...entriesFor(
    'vim vi nvim view vimdiff gvim ex nano pico emacs emacsclient micro helix hx joe jed mcedit ne kak ed',
    EDIT,
  ),
  ...entriesFor('less more most pg vless zless zmore bzless xzless', READ),
  ...entriesFor('man info pinfo', 'use `COMMAND --help`'),
  ...entriesFor('top htop btop atop glances iotop iftop nvtop nmon bmon powertop slabtop gtop bpytop', SEE),
  ...entriesFor('tmux screen byobu zellij dtach abduco', RUN),
  ...entriesFor('watch', 'run the command once, or in a loop with sleep'),
  ...entriesFor('mc ranger nnn lf vifm ncdu', 'use ls, find or du'),
  ...entriesFor('lazygit tig gitui lazydocker k9s', 'use the git, docker or kubectl commands themselves'),
  ...entriesFor('fzf sk peco dialog whiptail gum', 'choose with grep, and ask the person directly'),
  ...entriesFor('visudo vipw vigr crontab-e sudoedit', 'propose the change as text'),
])

/** What it waits for, and of a full-screen program what to use instead; null when it waits for nothing. */
export function interactiveCall(
  program: string,
  args: Arg[],
  hasStdin: boolean,
): { text: string; instead?: string } | null {
  const words = args.map(seen)
  if (isPagerOfPipe(program, words, hasStdin)) return null
  const instead = fullScreen(program, words)
  if (instead !== null) return { text: `\`${program}\` is a full-screen program: ${instead}.`, instead }
  if (hasStdin || !/^(?:ssh|mosh|telnet|ftp|sftp)$/.test(program) || !opensSession(words)) return null
  return { text: `\`${program}\` opens a session on another machine and waits for typing.` }
}

/** Without a terminal, `… | less` prints what it is given, as `cat` does. */
function isPagerOfPipe(program: string, words: string[], hasStdin: boolean): boolean {
  return hasStdin && PAGERS.has(program) && words.every(word => /^-[RrSXFEeiIMmNnqQsuUWwdfcK\d]+$/.test(word))
}

export const PAGERS: ReadonlySet<string> = new Set(['less', 'more'])

function fullScreen(program: string, words: string[]): string | null {
  const instead = FULL_SCREEN.get(program)
  if (program === 'top') return words.some(word => /^-?[a-zA-Z]*b/.test(word)) ? null : (instead ?? null)
  if (program === 'crontab' && words.includes('-e')) return 'propose the change as text'
  return instead ?? null
}

/** `ssh [options] host` without a command. */
function opensSession(words: string[]): boolean {
  const host = words.findIndex(
    (word, i) => !word.startsWith('-') && !/^-[bcDEeFIiJLlmOopQRSWw]$/.test(words[i - 1] ?? ''),
  )
  return host === -1 || host === words.length - 1
}
