import { describe, expect, test } from 'vitest'
import { matchCommand } from './command-patterns.ts'

describe('command tokens', () => {
  test.each([
    [['git', ['status', 'diff'], '**'], ['git', 'diff', '--stat'], true],
    [['git', ['status', 'diff'], '**'], ['git', 'push'], false],
    [['git', ['status', 'diff'], '**'], ['git', 'status'], true],
    [['git'], ['git', 'push'], false],
    [['npm', '*'], ['npm', 'test'], true],
    [['npm', '*'], ['npm', 'run', 'x'], false],
    [['npm', '**', '--force'], ['npm', 'a', 'b', '--force'], true],
    [['np?', 't*'], ['npm', 'test'], true],
    [['np.'], ['npm'], false],
  ])('%j and %j: %s', (pattern, words, expected) => {
    expect(matchCommand(pattern, words, false)).toBe(expected)
  })

  test('a word that is not known satisfies only a rule that forbids', () => {
    expect(matchCommand(['rm', '**'], ['rm', null], true)).toBe(true)
    expect(matchCommand(['rm', '**'], ['rm', null], false)).toBe(false)
    expect(matchCommand(['git', 'status'], ['git', null], false)).toBe(false)
  })
})

describe('a rule that forbids looks past options', () => {
  const PUSH = ['git', 'push', '**']
  test.each([
    'git -C . push',
    'git --no-pager push',
    'git -c a=b push',
    'git -c a=b -C x --git-dir=y push origin main',
    'git --git-dir y --work-tree . push',
    'git --namespace n push',
    'git --made-up push',
    'git --made-up value push',
    'git-push origin',
    'git push',
  ])('%s', line => {
    expect(matchCommand(PUSH, line.split(' '), true)).toBe(true)
  })

  test.each([
    [['npm', 'publish', '**'], 'npm --silent publish'],
    [['npm', 'publish', '**'], 'npm --prefix sub publish --tag x'],
    [['npm', 'publish'], 'npm publish --tag x'],
    [['npm', 'publish', '**'], 'npm pub'],
    [['pnpm', 'publish', '**'], 'pnpm -r --filter a publish'],
    [['docker', 'push', '**'], 'docker -H tcp://x push image'],
    [['docker', 'compose', 'push', '**'], 'docker compose -f other.yml push'],
    [['kubectl', 'delete', '**'], 'kubectl -n prod --context c delete pod x'],
    [['cargo', 'publish', '**'], 'cargo +nightly -q publish'],
    [['gh', 'repo', 'delete', '**'], 'gh -R a/b repo --yes delete'],
    [['terraform', 'apply', '**'], 'terraform -chdir=x apply'],
    [['npm', 'publish', '**'], 'npx npm publish'],
    [['npm', 'publish', '**'], 'npx --yes npm@latest --silent publish'],
    [['npm', 'publish', '**'], 'npm exec -- npm publish'],
    [['npm', 'publish', '**'], 'corepack npm publish'],
    [['git', 'push', '**'], 'parallel -j 2 git ::: push'],
    [['git', 'push', '**'], 'bundle exec git -C . push'],
    [['aws', 's3', 'rm', '**'], 'aws --profile p --region r s3 rm x'],
    [['npm', 'run', 'deploy'], 'npm run-script deploy'],
    [['npm', 'run', 'deploy'], 'npm rum deploy'],
    [['npm', 'run', 'deploy'], 'npm --silent urn deploy'],
    [['npm', 'run-script', 'deploy'], 'npm run deploy'],
    [['npm', 'install', '**'], 'npm isntall left-pad'],
    [['npm', 'i', '**'], 'npm add left-pad'],
    [['npm', 'run', 'test'], 'npm tst'],
    [['yarn', 'run', 'deploy'], 'yarn deploy'],
    [['pnpm', 'run', 'deploy', '**'], 'pnpm deploy --prod'],
    [['git', 'push', '**'], 'ssh-agent git push'],
    [['git', 'push', '**'], 'somewrapper --flag value git -C . push origin'],
    [['my-deploy', '**'], 'somewrapper my-deploy now'],
    [['make', 'release'], 'make VAR=1 all release'],
    [['make', 'release', '**'], 'gmake -j4 test release'],
    [['npm', 'run', 'deploy'], 'node --run deploy'],
    [['git', 'push', '**'], 'conda run -n env git push'],
  ])('%j: %s', (pattern, line) => {
    expect(matchCommand(pattern, line.split(' '), true)).toBe(true)
  })

  test.each([
    'git log --grep push',
    'git -C push status',
    'git status push',
    'git stash push',
    'npm run publish',
    'grep git push',
    'echo git push',
    'ls git push',
  ])('and is not about %s', line => {
    const pattern = line.startsWith('npm') ? ['npm', 'publish', '**'] : ['git', 'push', '**']
    expect(matchCommand(pattern, line.split(' '), true)).toBe(false)
  })

  test('one that allows does not, but for what is only shown differently', () => {
    const allows = (line: string) => matchCommand(['git', 'log', '**'], line.split(' '), false)
    expect(allows('git --no-pager log -3')).toBe(true)
    expect(allows('git -C ../other log')).toBe(false)
    expect(allows('git -c core.pager=x log')).toBe(false)
    expect(allows('git-log')).toBe(false)
  })

  test('many stars take no time', () => {
    const pattern = Array.from({ length: 30 }, () => '**')
    const words = Array.from({ length: 300 }, () => '-x')
    expect(matchCommand([...pattern, 'end'], words, true)).toBe(false)
  })
})
