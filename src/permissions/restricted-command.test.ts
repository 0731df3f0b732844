import { expect, test } from 'vitest'
import { analyzeCommand } from './commands/analyze.ts'
import { restrictedProblem } from './restricted-command.ts'

const ALLOWED = ['ls', 'cat', 'find']

const problem = (line: string, allowed: readonly string[] = ALLOWED): string | undefined =>
  restrictedProblem(analyzeCommand(line, { cwd: '/w', home: '/home/kim', workspace: '/w' }), allowed)

test.each([
  'ls && id',
  'ls & id',
  'ls || id',
  'ls; id',
  'ls | id',
  'ls $(id)',
  'ls `id`',
  'ls $X',
  'ls > a',
  'ls < a',
  'ls\nid',
  'ls\rid',
])('%j is not one simple command', line => {
  expect(problem(line)).toContain('forbidden shell metacharacter')
})

test('the first word has to be on the list, as a whole', () => {
  expect(problem('ls -la')).toBeUndefined()
  for (const line of ['lsof', '/bin/ls', './ls', 'rm x', '', ' ']) {
    expect(problem(line), line).toContain('is not in the allowed command list. Allowed: ls, cat, find')
  }
})

const STARTERS = [
  ...[
    'find',
    'env',
    'xargs',
    'sh',
    'bash',
    'timeout',
    'nice',
    'nohup',
    'git',
    'tar',
    'sed',
    'awk',
    'sort',
    'time',
  ],
  ...[
    'split',
    'fd',
    'rg',
    'rsync',
    'make',
    'npm',
    'npx',
    'go',
    'cargo',
    'stdbuf',
    'flock',
    'zip',
    'exec',
    'eval',
  ],
]

test.each([
  'find . -exec node -e 1 {} +',
  'find . -execdir node -e 1 {} +',
  'find . -ok node {} +',
  'find . -exec ./ls {} +',
  'find . -exec sh -c "node x" +',
  'find . -exec env node {} +',
  'env node x',
  'env -S "node x"',
  'env X=1 node x',
  'xargs -n1 node',
  'sh -c "node x"',
  "bash -c 'node x'",
  'timeout 5 node',
  'nice -n 5 node',
  'nohup node',
  'time node',
  'exec node',
  'eval node',
  'git -c core.pager=node log',
  'git grep -Onode x',
  'git rebase -x node',
  'git bisect run node',
  'git submodule foreach node',
  'tar --checkpoint-action=exec=node -cf x y',
  'tar --to-command node -xf x',
  'tar -I node -xf x',
  'tar Ixf node x',
  'sed "1e node" f',
  'sed s/x/node/e f',
  'sed -f script f',
  'awk \'BEGIN{system("node")}\' f',
  'awk -f script f',
  'sort --compress-program=node f',
  'sort --compress-prog node f',
  'split --filter=node f',
  'fd -x node',
  'fd . -tX node',
  'rg --pre node x',
  'rsync -e node a b',
  'make SHELL=node',
  'npm exec node',
  'npm test --script-shell node',
  'npx node',
  'go build -toolexec node',
  'cargo --config build.rustc-wrapper=node build',
  'stdbuf -o0 node',
  'flock x node',
  'zip -T -TT node a b',
])('a listed program cannot start another one: %s', line => {
  expect(problem(line, STARTERS)).toMatch(/allowed command list/)
})

test.each([
  'find . -name "*.ts" -exec grep -n "a b" {} +',
  'find . -type f',
  'env ls',
  'xargs grep x',
  'tar -xzf a.tar',
  'tar cf a.tar b',
  'sed -n 1,5p f',
  'sed -i "s/a b/c d/" f',
  'sort -o x f',
  'git commit -m "say x and node"',
  'git log --oneline -5',
  'npm test',
  'npm run build',
  'cargo test',
  'go test ./...',
  'make test',
  'ls "a node"',
])('what starts only listed programs runs: %s', line => {
  expect(problem(line, [...STARTERS, 'ls', 'grep'])).toBeUndefined()
})
