import { describe, expect, test } from 'vitest'
import type { Access } from '../../core/access.ts'
import { analyzeCommand } from './analyze.ts'

const context = { cwd: '/home/dev/ws', home: '/home/dev', workspace: '/home/dev/ws' }
const analyze = (line: string) => analyzeCommand(line, context)
const access = (line: string): string[] => analyze(line).access.map(describeAccess)

function describeAccess(item: Access): string {
  return 'path' in item ? `${item.kind} ${item.path}` : 'url' in item ? `${item.kind} ${item.url}` : item.kind
}

describe('access', () => {
  test('readers name the files that they read', () => {
    expect(access('cat .env ~/x "$HOME/y" /etc/hosts')).toEqual([
      'file_read /home/dev/ws/.env',
      'file_read /home/dev/x',
      'file_read /home/dev/y',
      'file_read /etc/hosts',
    ])
    expect(analyze('cat .env').level).toBe('safe')
  })

  test('input redirections, option values and `rev:path` are reads', () => {
    expect(access('wc -l < .env')).toEqual(['file_read /home/dev/ws/.env'])
    expect(access('grep -f words.txt a')).toContain('file_read /home/dev/ws/words.txt')
    expect(access('git show HEAD:.env')).toContain('file_read /home/dev/ws/.env')
    expect(access('git log -L1,5:.env')).toContain('file_read /home/dev/ws/.env')
    expect(access('git -C sub show HEAD:.env')).toContain('file_read /home/dev/ws/sub/.env')
  })

  test('the pattern of grep is no file', () => {
    expect(access('grep secret a.txt')).toEqual(['file_read /home/dev/ws/a.txt'])
    expect(access('grep -e secret a.txt')).toEqual(['file_read /home/dev/ws/a.txt'])
  })

  test('a change of directory is followed, on every way through the line', () => {
    expect(access('cd sub && cat a')).toEqual(['file_read /home/dev/ws/sub/a'])
    expect(access('cd sub || cat a')).toEqual(['file_read /home/dev/ws/a'])
    expect(access('cd sub; cat a')).toEqual(['file_read /home/dev/ws/sub/a', 'file_read /home/dev/ws/a'])
    expect(access('(cd sub && cat a); cat b')).toEqual([
      'file_read /home/dev/ws/sub/a',
      'file_read /home/dev/ws/b',
    ])
    expect(access('cd sub && cd ../other && cat a')).toEqual(['file_read /home/dev/ws/other/a'])
    expect(access('cd /tmp && cd - && cat a')).toContain('file_read /home/dev/ws/a')
  })

  test('variables of the line are followed', () => {
    expect(access('F=.env; cat $F')).toEqual(['file_read /home/dev/ws/.env'])
    expect(access('D=src && cat "$D/a.ts"')).toEqual(['file_read /home/dev/ws/src/a.ts'])
    expect(analyze('X="a b"; cat $X').unresolved).toBe(true)
    expect(analyze('X="a b"; cat "$X"').level).toBe('safe')
    expect(analyze('true || X=a; cat $X').level).not.toBe('safe')
  })

  test('writes, deletes, moves and redirections are named', () => {
    expect(access('cp a b')).toEqual(['file_read /home/dev/ws/a', 'file_write /home/dev/ws/b'])
    expect(access('mv a b')).toEqual([
      'file_read /home/dev/ws/a',
      'file_delete /home/dev/ws/a',
      'file_write /home/dev/ws/b',
    ])
    expect(access('rm -rf build')).toEqual(['file_delete /home/dev/ws/build'])
    expect(access('echo x > .git/config')).toEqual(['file_write /home/dev/ws/.git/config'])
    expect(access('sort -o out in')).toContain('file_write /home/dev/ws/out')
    expect(access('curl -o out https://example.com/x')).toEqual(
      expect.arrayContaining(['file_write /home/dev/ws/out', 'network https://example.com/x']),
    )
    expect(access('bash -c "cat .env"')).toContain('file_read /home/dev/ws/.env')
    expect(access('someprogram --in=.env')).toContain('file_read /home/dev/ws/.env')
  })

  test('machines are named', () => {
    expect(access('git clone git@github.com:a/b.git')).toContain('network ssh://github.com')
    expect(access('ssh -p 22 me@example.com ls')).toContain('network ssh://example.com')
    expect(access('curl example.com/x')).toContain('network http://example.com/x')
    expect(access('scp a host:/b')).toContain('network ssh://host')
  })

  test('machines in options are named', () => {
    expect(access('curl -x evil.com:8080 https://a.com')).toContain('network http://evil.com:8080')
    expect(access('curl --proxy=evil.com https://a.com')).toContain('network http://evil.com')
    expect(access('curl --url=evil.com')).toContain('network http://evil.com')
    expect(access('ssh -J me@evil.com host ls')).toContain('network ssh://evil.com')
  })

  test('files that are packed, staged or fetched as URLs are reads', () => {
    expect(access('zip -r x.zip secret')).toContain('file_read /home/dev/ws/secret')
    expect(access('git add secret/a')).toContain('file_read /home/dev/ws/secret/a')
    expect(access('git hash-object f')).toContain('file_read /home/dev/ws/f')
    expect(access('curl file:///home/dev/ws/.env')).toContain('file_read /home/dev/ws/.env')
    expect(access('curl file:///home/dev/ws/%2eenv')).toContain('file_read /home/dev/ws/.env')
    expect(access('tar cf x secret')).toContain('file_read /home/dev/ws/secret')
    expect(analyze('echo a | xargs cat').unresolved).toBe(true)
  })

  test('everything that publishes says so', () => {
    for (const line of [
      'git push',
      'git -c alias.p=push p',
      'npm publish',
      'npm --tag x publish',
      'npm pub',
      'yarn npm publish',
      'yarn publish',
      'pnpm -r publish',
      'docker push a/b',
      'docker image push a/b',
      'docker --context x push a',
      'podman push a',
      'twine upload dist/x',
      'mvn deploy',
      'mvn -B clean deploy',
      'vsce publish',
      'cargo publish',
      'cargo +nightly publish',
      'gem push a.gem',
      './gradlew publish',
      'gradle publishToMavenCentral',
      'python3 -m twine upload dist/x',
      'python setup.py sdist upload',
      'deno publish',
      'firebase deploy',
      'helm push chart.tgz oci://site.test',
      'skopeo copy docker://a docker://b',
      'crane push a.tar site.test/a',
      'buildah push a',
      'git subtree push --prefix x origin main',
      'git p4 submit',
      'glab mr create',
    ]) {
      expect([line, analyze(line).effects]).toEqual([line, expect.arrayContaining(['publishes'])])
    }
    expect(analyze('npm install publish').effects).not.toContain('publishes')
    expect(analyze('npm run publish-docs').effects).not.toContain('publishes')
  })

  test('a pattern gives its folder and the pattern itself', () => {
    const analysis = analyze('cat src/*.ts "a*b"*')
    expect(analysis.level).toBe('safe')
    expect(analysis.access.map(describeAccess)).toEqual([
      'file_read /home/dev/ws/src',
      'file_read /home/dev/ws',
    ])
    expect(analysis.globs).toEqual([
      { kind: 'file_read', pattern: '/home/dev/ws/src/*.ts', directory: '/home/dev/ws/src' },
      { kind: 'file_read', pattern: '/home/dev/ws/a\\*b*', directory: '/home/dev/ws' },
    ])
  })

  test('a pattern of a command that deletes or writes names its matches, never their folder', () => {
    const globs = (line: string) => analyze(line).globs.map(glob => `${glob.kind} ${glob.pattern}`)
    expect(access('rm *.log')).toEqual(['file_read /home/dev/ws'])
    expect(globs('rm *.log')).toEqual(['file_delete /home/dev/ws/*.log'])
    expect(globs('mv *.txt g/')).toEqual(['file_read /home/dev/ws/*.txt', 'file_delete /home/dev/ws/*.txt'])
    expect(access('mv *.txt g/')).toEqual(['file_read /home/dev/ws', 'file_write /home/dev/ws/g'])
    expect(globs('chmod +x bin/*')).toEqual(['file_write /home/dev/ws/bin/*'])
    expect(globs('cd a; rm *.log')).toEqual([
      'file_delete /home/dev/ws/a/*.log',
      'file_delete /home/dev/ws/*.log',
    ])
  })

  test('git lines that print contents name the file, or say that any file of the repository may be shown', () => {
    const history = (line: string) =>
      analyze(line)
        .trees.filter(tree => tree.history)
        .map(tree => tree.path)
    for (const line of [
      'git show origin/main:.env',
      'git show :0:.env',
      'git show :.env',
      "git show 'HEAD^{/fix: a}:.env'",
      "git show 'HEAD@{1 day}:.env'",
      'git show --stat HEAD:.env',
      'git blame .env',
      'git blame HEAD .env',
    ]) {
      expect([line, access(line), history(line)]).toEqual([
        line,
        expect.arrayContaining(['file_read /home/dev/ws/.env']),
        [],
      ])
    }
    for (const line of [
      'git show',
      'git show HEAD',
      'git show origin/main',
      'git log -p',
      'git log -S x --oneline',
      'git log -G x --stat',
      'git diff',
      'git diff main',
      'git diff src/a.ts',
      'git diff --stat -p',
      'git diff --exit-code',
      'git log --oneline --cc',
      'git diff HEAD:a HEAD~1:a',
      "git log -p -- '*nv'",
      "git log -p -- ':(top).env'",
      "git log -p -- ':!x'",
      'git stash show',
      'git stash show -p',
    ]) {
      expect([line, history(line)]).toEqual([line, ['/home/dev/ws']])
    }
    for (const line of [
      'git log',
      'git show --stat HEAD',
      // Whether it is a commit is seen in the repository.
      'git show --stat abc1234',
      'git log --stat --follow -- src/a.ts',
      'git diff --name-only',
      'git status',
      'git stash list',
    ])
      expect([line, history(line)]).toEqual([line, []])
    expect(history('git log -p -- src')).toEqual(['/home/dev/ws/src'])
    for (const option of ['--full-diff', '--follow'])
      expect(history(`git log -p ${option} -- src`), option).toContain('/home/dev/ws')
    expect(history('cd sub && git log -p')).toEqual(['/home/dev/ws/sub', '/home/dev/ws'])
    expect(access('cd sub && git show HEAD:.env')).toEqual(
      expect.arrayContaining(['file_read /home/dev/ws/.env']),
    )
    expect(access('git show HEAD~1:.env..HEAD:b')).toContain('file_read /home/dev/ws/.env')
    expect(analyze('git diff --no-index secret b').trees).toEqual([
      { path: '/home/dev/ws/secret', content: true },
      { path: '/home/dev/ws/b', content: true },
    ])
    expect(access('git merge-file -p secret a b')).toContain('file_read /home/dev/ws/secret')
  })

  test('grep goes through a folder only when it is told to', () => {
    expect(analyze('grep -d recurse X src').trees).toEqual([{ path: '/home/dev/ws/src', content: true }])
    expect(analyze('grep -d skip X src').trees).toEqual([])
  })

  test('folders that are read with everything below are named', () => {
    expect(analyze('grep -rn x src').trees).toEqual([{ path: '/home/dev/ws/src', content: true }])
    expect(analyze('find . -name x').trees).toEqual([{ path: '/home/dev/ws', content: false }])
    expect(access('find src -type f -exec grep -f words X {} +')).toContain('file_read /home/dev/ws/words')
    expect(analyze('rg x').trees).toEqual([{ path: '/home/dev/ws', content: true }])
  })
})
