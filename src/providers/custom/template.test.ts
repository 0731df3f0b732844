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
  ['sh -c {x}', 'run it as a command'],
  ['bash script.sh {x}', 'run it as a command'],
  ['eval {x}', 'run it as a command'],
  ['ls | xargs {x}', 'run it as a command'],
  ['ssh host {x}', 'run it as a command'],
  ['env {x}', 'run it as a command'],
  ['python3 -c {x}', 'read as code'],
  ['node --eval {x}', 'read as code'],
  ['sed -n {x} file', 'read as code'],
  ['node --eval={x}', 'read as code'],
  ['python3 -c{x}', 'read as code'],
  ['sed --expression={x} file', 'read as code'],
  ['deno eval {x}', 'read as code'],
  ['busybox sh -c {x}', 'run it as a command'],
  ['docker run image sh -c {x}', 'run it as a command'],
  ['docker exec web /bin/bash {x}', 'run it as a command'],
  ['stdbuf -oL bash -c {x}', 'run it as a command'],
  ['flock lock -c {x}', 'run it as a command'],
  ['find . -exec {x} +', 'run it as a command'],
  ['git -C .. -c {x} status', 'run it as a command'],
  ['git -c core.pager={x} log', 'run it as a command'],
  ['tar --to-command={x} -xf a.tar', 'run it as a command'],
  ['rsync -e {x} a b', 'run it as a command'],
  ['npx -y {x}', 'run it as a command'],
  ['awk {x} file', 'read as code'],
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
  ['csh -c {x}', 'run it as a command'],
  ['bash5.2 -c {x}', 'run it as a command'],
  ['git rebase -x {x} main', 'run it as a command'],
  ['git submodule foreach {x}', 'run it as a command'],
  ['poetry run {x}', 'run it as a command'],
  ['npx -p a {x}', 'run it as a command'],
  ['docker exec web {x}', 'run it as a command'],
  ['sort --compress-program={x} f', 'run it as a command'],
  ['set -- {x}; ls', 'run it as a command'],
  ['printf -v {x} a | cat', 'run it as a command'],
  ['unset {x}; ls', 'run it as a command'],
  ['awk -v n=1 {x} file', 'read as code'],
  ['sed -l 5 {x} file', 'read as code'],
  ['echo {x} | make -f -', 'runs its input as a program'],
  ['echo {x} | crontab -', 'runs its input as a program'],
  ['docker exec -u root web {x}', 'run it as a command'],
  ['docker exec -itu root web {x}', 'run it as a command'],
  ['docker run -v a:b --rm image {x}', 'run it as a command'],
  ['docker compose exec web {x}', 'run it as a command'],
  ['docker run --entrypoint={x} image', 'run it as a command'],
  ['kubectl -n shop exec -it pod -- {x}', 'run it as a command'],
  ['make --eval={x}', 'run it as a command'],
  ['npx --call={x}', 'run it as a command'],
  ['perl -M{x} a.pl', 'read as code'],
  ['node --import={x} a.mjs', 'read as code'],
  ['gawk --source={x} file', 'read as code'],
  ['echo {x} | xargs sudo', 'runs its input as a program'],
  ['echo {x} | xargs -n 1 npx', 'runs its input as a program'],
  ['echo {x} | xargs -I% %', 'runs its input as a program'],
  ['echo {x} | awk -f - file', 'runs its input as a program'],
  ['echo {x} | sed -f /dev/stdin file', 'runs its input as a program'],
  ['echo {x} | { read l; nice $l; }', 'code that is not spelled out'],
  // Ways that the shell itself offers, from a value to code.
  ['echo {x} | tee >(sh)', 'cannot have >(…)'],
  ['echo {x} > >(sh)', 'cannot have >(…)'],
  ['$SHELL -c {x}', 'code that is not spelled out'],
  ['$(which sh) {x}', 'code that is not spelled out'],
  ['f() { sh -c "$1"; }; f {x}', 'cannot have functions'],
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
  ['git clone {x} app && app/setup.sh', "'app/setup.sh' is run"],
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

test.each([
  'git switch -c {x}',
  'git commit -m {x}',
  'npx prettier {x}',
  'find . -name {x}',
  'grep -e {x} -r .',
  'docker exec web ls {x}',
  'docker exec -it -u root web ls {x}',
  'docker run --rm -v a:b -uroot image ls {x}',
  'docker compose logs {x}',
  'kubectl exec -it pod -c web -- ls {x}',
  "cat {x} | awk '{print $1}' -",
  'grep -rl -e {x} . | xargs -I% cp % .',
  'echo {x} | sort',
  'curl https://example.com/list | sh lines.sh | grep -e {x}',
  'cat {x} | python3 report.py',
  'cat {x} | bash -e -o pipefail report.sh',
  'cat {x} | python3 -s report.py',
  'git push {x}',
  'grep -rl -e {x} . | xargs wc -l',
  'node scripts/report.js --print-title={x}',
  "awk -v n={x} '$1 == n' file",
  "jq --arg n {x} '.[$n]' file",
  'git cherry-pick -x {x}',
  'npm run {x}',
  'make -j{x} all',
  'ls --color={x}',
  'set -e; cd sub && ls {x} | sort',
  '~/bin/report {x} | sort',
  '"$HOME/bin/report" {x} | sort',
  'set -o pipefail; rg -l {x} | while read -r f; do wc -l "$f"; done',
  'if [ -f {x} ]; then cat {x}; fi',
  'python3 report.py {x} "$(date)" > out.txt && python3 summary.py out.txt',
])('the template %j is one that people write', source => {
  expect(() => template(source, 'x')).not.toThrow()
})
