// Programs that turn their input or a file into code. A value can come to them through a pipe or a file; what a program
// that is not among them makes of it is judged with each call, from the line that the values make.

/** Programs that run their arguments, or read code from them: a value there would be a command. */
const RUNS_ITS_ARGUMENTS = new Set(
  (
    'npx bunx pnpx uvx capsh setarch linux32 linux64 prlimit chrt valgrind newgrp sg ' +
    'xargs ssh su sudo doas env nice nohup setsid timeout time watch parallel busybox stdbuf ionice taskset unshare nsenter ' +
    'bwrap chroot flock script setpriv runuser pkexec strace ltrace entr systemd-run tmux screen xvfb-run fakeroot proot firejail'
  ).split(' '),
)
/** Words of the shell that make a command, a variable or a number of their arguments; all three can run code. */
const SHELL_WORDS = new Set(
  (
    '. source eval exec command builtin trap alias bind compgen complete coproc declare typeset local export readonly enable ' +
    'fc getopts hash history jobs let mapfile readarray read set shopt unset wait'
  ).split(' '),
)
const SHELL = /^(?:.*\/)?(?:ba|rba|da|a|z|k|mk|fi|c|tc|pw)?sh[\d.]*$/
/** Those that read a program from their input when they are given no file. */
const INPUT_INTERPRETER =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|R|Rscript|julia|octave|tclsh|expect|irb|ghci|gnuplot|dc|ed|ex|ftp|mail)$/
/** Whether its arguments are a command. */
export function isWrapper(program: string): boolean {
  return RUNS_ITS_ARGUMENTS.has(program)
}

/** Whether it starts what its arguments name, `source f` and `nohup ./f` alike. */
export function runsArguments(program: string): boolean {
  return RUNS_ITS_ARGUMENTS.has(program) || SHELL_WORDS.has(program)
}

/** Whether it runs the file behind `-f`. */
export function readsFileOption(program: string): boolean {
  return /^(?:g?make|[gmn]?awk|sed)$/.test(program)
}

export function isShell(word: string): boolean {
  return SHELL.test(word)
}

/** Whether it runs what comes in when it is given no file. */
export function readsProgram(word: string): boolean {
  return isShell(word) || INPUT_INTERPRETER.test(baseName(word))
}

export function baseName(path: string): string {
  return path.split('/').at(-1) ?? ''
}
