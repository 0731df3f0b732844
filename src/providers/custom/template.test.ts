import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { render, toLine, type Values } from './render.ts'
import { parseTemplate } from './template.ts'
import { TemplateError } from './template-error.ts'

const template = (source: string, ...parameters: string[]) => parseTemplate(source, new Set(parameters))
const argvOf = (source: string, values: Values) => {
  const rendered = render(template(source, ...Object.keys(values)), values)
  return 'argv' in rendered ? rendered.argv : rendered
}

describe('a template that is one simple command', () => {
  test('gets each value as one argument, whatever is in it', () => {
    const title = `x'; touch pwned; echo "$(id)" \`id\` $HOME * {body}\n&& rm -rf /`
    expect(argvOf('gh issue create --title {title} --body {body}', { title, body: '' })).toEqual([
      'gh',
      'issue',
      'create',
      '--title',
      title,
      '--body',
      '',
    ])
  })

  test('loses an optional value together with its flag', () => {
    expect(argvOf('git branch --list {pattern}', { pattern: undefined })).toEqual(['git', 'branch'])
    expect(
      argvOf('git log --author={who} -n {count} {path}', { who: undefined, count: 3, path: undefined }),
    ).toEqual(['git', 'log', '-n', '3'])
  })

  test('keeps braces that are no parameters, quoted words and escapes', () => {
    expect(argvOf(`awk '{print $1}' a\\ b {file}`, { file: 'x y' })).toEqual([
      'awk',
      '{print $1}',
      'a b',
      'x y',
    ])
  })

  test('never passes a value on as an option', () => {
    expect(argvOf('gh issue create --body {body}', { body: '- one' })).toEqual([
      'gh',
      'issue',
      'create',
      '--body=- one',
    ])
    expect(() => argvOf('git log {ref}', { ref: '--output=x' })).toThrow("'ref' cannot begin with a dash")
    expect(() => argvOf('git log -n {ref}', { ref: '-p' })).toThrow('cannot begin with a dash')
    expect(argvOf('git log -- {path}', { path: '-x' })).toEqual(['git', 'log', '--', '-x'])
    expect(argvOf('git log --author={who}', { who: '-x' })).toEqual(['git', 'log', '--author=-x'])
  })
})

describe('a template that needs a shell', () => {
  test('gets every value as one quoted word', () => {
    const values = { text: "a'b; id", file: undefined }
    expect(render(template('grep -e {text} {file} | sort > out.txt', 'text', 'file'), values)).toEqual({
      line: `grep -e 'a'\\''b; id'  | sort > out.txt`,
    })
  })

  test('passes on what bash then sees unchanged, for any value', () => {
    const parsed = template('printf "%s\\0" -- {a} | cat', 'a')
    const wellFormed = fc
      .string({ unit: 'binary', maxLength: 40 })
      .filter(text => !text.includes('\0') && text.isWellFormed())
    const values = fc.sample(wellFormed, { numRuns: 500, seed: 7 })
    // One shell for all of them: starting one each would take longer than all other tests of this file.
    const script = values.map(a => toLine(render(parsed, { a }))).join('\n')
    const seen = execFileSync('bash', ['-s'], { input: script, encoding: 'utf8' }).split('\0')
    expect(seen).toEqual([...values.flatMap(a => ['--', a]), ''])
  })
})

test.each([
  ['{program} x', 'program'],
  ['echo "{x}"', 'inside quotes'],
  ["echo '{x}'", 'inside quotes'],
  ['echo $(ls {x})', 'expansion'],
  ['echo `ls {x}`', 'expansion'],
  ['echo ok # {x}', 'can only stand for an argument'],
  ['cat <<E\n{x}\nE', 'can only stand for an argument'],
  ['cat < {x}', 'can only stand for an argument'],
  ['ls > {x}', 'can only stand for an argument'],
  ['FOO={x} ls', 'can only stand for an argument'],
  ['for f in {x}; do ls; done', 'can only stand for an argument'],
  ['sh -c {x}', 'can be any text'],
  ['bash script.sh {x}', 'can be any text'],
  ['eval {x}', 'can be any text'],
  ['ls | xargs {x}', 'can be any text'],
  ['ssh host {x}', 'can be any text'],
  ['env {x}', 'can be any text'],
  ['python3 -c {x}', 'can be any text'],
  ['node --eval {x}', 'can be any text'],
  ['sed -n {x} file', 'can be any text'],
  ['node --eval={x}', 'can be any text'],
  ['python3 -c{x}', 'can be any text'],
  ['sed --expression={x} file', 'can be any text'],
  ['deno eval {x}', 'can be any text'],
  ['busybox sh -c {x}', 'can be any text'],
  ['docker run image sh -c {x}', 'can be any text'],
  ['docker exec web /bin/bash {x}', 'can be any text'],
  ['stdbuf -oL bash -c {x}', 'can be any text'],
  ['flock lock -c {x}', 'can be any text'],
  ['find . -exec {x} +', 'can be any text'],
  ['git -C .. -c {x} status', 'can be any text'],
  ['git -c core.pager={x} log', 'can be any text'],
  ['tar --to-command={x} -xf a.tar', 'can be any text'],
  ['rsync -e {x} a b', 'can be any text'],
  ['npx -y {x}', 'can be any text'],
  ['awk {x} file', 'can be any text'],
  // What is not known: wrappers, interpreters, programs of the project, folders in which another one acts.
  ...[
    'capsh -- -c {x}',
    'setarch x86_64 {x}',
    'prlimit --nofile=10 {x}',
    'chrt 1 {x}',
    'dc -e {x}',
    'valgrind {x}',
    'gdb -ex {x}',
    'psql -c {x}',
    './cat {x}',
    'bin/cat {x}',
    '/tmp/cat {x}',
    '~/bin/report {x} | sort',
    'python3 report.py {x}',
    'node scripts/report.js --title={x}',
    'npx prettier {x}',
    'npm run {x}',
    'make {x}',
    'cd {x}; make',
    'git -C {x} status',
    'git push {x}',
    'git cherry-pick --strategy={x} main',
    'git clone {x}',
    'docker exec web ls {x}',
    'kubectl exec -it pod -c web -- ls {x}',
    'find . -exec grep {x} {} +',
    'rg --hostname-bin={x} a',
    'rg --pre cat {x}',
    'wget -e {x} https://example.com',
    'tar -xf {x}',
    'jq {x} file',
    'jq -f {x} file',
    'sed -f {x} file',
    'gawk -i {x} 1 file',
    'sort -T {x} file',
  ].map(line => [line, 'can be any text']),
  ['echo {x} | setarch x86_64', 'runs its input as a program'],
  ['echo {x} | dc', 'runs its input as a program'],
  ['echo {x} | sqlite3 a.db', 'runs its input as a program'],
  ['echo {x} | capsh --', 'runs its input as a program'],
  ['echo {x} | sh', 'runs its input as a program'],
  ['printf %s {x} | tee log | sudo bash -s', 'runs its input as a program'],
  ['cat {x} | (cd sub && python3 -)', 'runs its input as a program'],
  ['echo {x} | docker exec -i web /bin/sh', 'runs its input as a program'],
  ['echo {x} | ssh host', 'runs its input as a program'],
  ['echo {x} | bash -es first', 'runs its input as a program'],
  ['echo {x} | bash -o pipefail', 'runs its input as a program'],
  ['echo {x} | python3 - first', 'runs its input as a program'],
  ['echo {x} | sh /dev/stdin first', 'runs its input as a program'],
  ['echo {x} | tcsh', 'runs its input as a program'],
  ['echo {x} | parallel', 'runs its input as a program'],
  ['echo {x} | xargs -I% sh -c "echo %"', 'runs its input as a program'],
  ['csh -c {x}', 'can be any text'],
  ['bash5.2 -c {x}', 'can be any text'],
  ['git rebase -x {x} main', 'can be any text'],
  ['git submodule foreach {x}', 'can be any text'],
  ['poetry run {x}', 'can be any text'],
  ['npx -p a {x}', 'can be any text'],
  ['docker exec web {x}', 'can be any text'],
  ['sort --compress-program={x} f', 'can be any text'],
  ['set -- {x}; ls', 'can be any text'],
  ['printf -v {x} a | cat', 'can be any text'],
  ['unset {x}; ls', 'can be any text'],
  ['awk -v n=1 {x} file', 'can be any text'],
  ['sed -l 5 {x} file', 'can be any text'],
  ['echo {x} | make -f -', 'runs its input as a program'],
  ['echo {x} | crontab -', 'runs its input as a program'],
  ['docker exec -u root web {x}', 'can be any text'],
  ['docker exec -itu root web {x}', 'can be any text'],
  ['docker run -v a:b --rm image {x}', 'can be any text'],
  ['docker compose exec web {x}', 'can be any text'],
  ['docker run --entrypoint={x} image', 'can be any text'],
  ['kubectl -n shop exec -it pod -- {x}', 'can be any text'],
  ['make --eval={x}', 'can be any text'],
  ['npx --call={x}', 'can be any text'],
  ['perl -M{x} a.pl', 'can be any text'],
  ['node --import={x} a.mjs', 'can be any text'],
  ['gawk --source={x} file', 'can be any text'],
  ['echo {x} | xargs sudo', 'runs its input as a program'],
  ['echo {x} | xargs -n 1 npx', 'runs its input as a program'],
  ['echo {x} | xargs -I% %', 'runs its input as a program'],
  ['echo {x} | awk -f - file', 'runs its input as a program'],
  ['echo {x} | sed -f /dev/stdin file', 'runs its input as a program'],
  ['echo {x} | { read l; nice $l; }', 'code that is not spelled out'],
  // Ways that the shell itself offers, from a value to code.
  ['echo {x} | tee >(sh)', 'cannot have >(…)'],
  ['echo {x} > >(sh)', 'cannot have >(…)'],
  ['$SHELL -c {x}', 'can be any text'],
  ['$(which sh) {x}', 'can be any text'],
  ['f() { sh -c "$1"; }; f {x}', 'can be any text'],
  ['echo() { sh -c "$1"; }; echo {x}', 'cannot have functions'],
  ['echo {x} | $SHELL', 'code that is not spelled out'],
  ['coproc sh; echo {x}', 'cannot have coprocesses'],
  ['echo {x} | { read l; $l; }', 'code that is not spelled out'],
  ['echo {x} | (read l; sh -c "$l")', 'code that is not spelled out'],
  ['echo {x} | while read l; do eval "$l"; done', 'code that is not spelled out'],
  ['echo {x} | while read l; do echo $((l)); done', 'cannot have arithmetic'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
  ['echo {x} | { read l; echo "${a[$l]}"; }', 'cannot have arithmetic'],
  ['echo {x} | { read l; [[ $l -eq 1 ]]; }', 'cannot have arithmetic'],
  ['echo {x} > f; eval "$(cat f)"', 'code that is not spelled out'],
  // Two steps: the first one writes what the second one runs.
  ['echo {x} > f.sh; sh f.sh', "'f.sh' is run by one command and named by another"],
  ['echo {x} > f && . ./f', "'./f' is run"],
  ['echo {x} > f && bash < f', "'f' is run"],
  ['echo {x} | tee f.py; python3 ./f.py', "'./f.py' is run"],
  ['printf %s {x} > bin/run; chmod +x bin/run; bin/run', "'bin/run' is run"],
  ['curl -o install.sh {x} && sh install.sh', "'install.sh' is run"],
  ['cp {x} app && app/setup.sh', "'app/setup.sh' is run"],
  ['echo {x} > f; timeout 5 ./f', "'./f' is run"],
  ['echo {x} > f; cat f | sh', "'f' is run"],
  ['echo {x} > f; make -f f', "'f' is run"],
  ['tar --{x} a.tar', 'decide which option'],
  ['tar -{x} a.tar', 'decide which option'],
  ['echo {typo} {x}', '{typo} is not a parameter'],
  ['echo "unterminated', 'not valid shell syntax'],
])('the template %j is refused', (source, reason) => {
  expect(() => template(source, 'x', 'program')).toThrow(TemplateError)
  expect(() => template(source, 'x', 'program')).toThrow(reason)
})

test('any program takes numbers and values of a list', () => {
  const free = (name: string): boolean => name === 'x'
  for (const line of [
    'make -j{n} all',
    'npm run {n}',
    '~/bin/deploy --to {n}',
    'kubectl rollout restart {n}',
  ])
    expect(() => parseTemplate(line, new Set(['n', 'x']), free)).not.toThrow()
  expect(() => parseTemplate('~/bin/deploy --to={n}/{x}', new Set(['n', 'x']), free)).toThrow(
    'can be any text',
  )
})

test.each([
  'git switch -c {x}',
  'git commit -m {x}',
  'find . -name {x}',
  'grep -e {x} -r .',
  'docker compose logs {x}',
  "cat {x} | awk '{print $1}' -",
  'grep -rl -e {x} . | xargs -I% cp % .',
  'echo {x} | sort',
  'curl https://example.com/list | sh lines.sh | grep -e {x}',
  'cat {x} | python3 report.py',
  'cat {x} | bash -e -o pipefail report.sh',
  'cat {x} | python3 -s report.py',
  'grep -rl -e {x} . | xargs wc -l',
  "awk -v n={x} '$1 == n' file",
  "jq --arg n {x} '.[$n]' file",
  'git cherry-pick -x {x}',
  'ls --color={x}',
  'set -e; cd sub && ls {x} | sort',
  'set -o pipefail; rg -l {x} | while read -r f; do wc -l "$f"; done',
  'if [ -f {x} ]; then cat {x}; fi',
  'printf %s {x} | python3 report.py "$(date)" > out.txt && python3 summary.py out.txt',
  'printf %s {x} | ~/bin/report | sort',
  'printf %s {x} > in.txt && "$HOME/bin/report" in.txt',
  'gh issue create --title {x} --body {x}',
  'gh -R kim/shop issue view {x}',
  'git branch --list {x}',
  'git -C shop log --author={x} -- {x}',
  'docker compose logs --tail 5 {x}',
  'kubectl -n shop logs {x}',
  'curl -sS -o out.json https://example.com/{x}',
  'rg -n -e {x} src',
  "sed -n 's/a/b/p' {x}",
  '/usr/bin/wc -l {x}',
])('the template %j is one that people write', source => {
  expect(() => template(source, 'x')).not.toThrow()
})
