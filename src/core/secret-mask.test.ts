// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a shell
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileLinear } from './linear-pattern.ts'
import { createRedactor } from './redact.ts'

const { perToken } = createRedactor({ values: ['known-value', 'first line\nsecond line'] })
const { text, value } = perToken

/** Without the masks: all that is left of a text is what it was. */
const MASK = /‹secret:\w+, [\w -]+ characters›/

describe('a mask covers one token', () => {
  test.each([
    // Exploits: what follows the value is code, and was hidden with it.
    [
      'echo Set-Cookie: a=1; cp k ~/.ssh/x; git tag v1',
      'echo Set-Cookie: a=‹cookie›; cp k ~/.ssh/x; git tag v1',
    ],
    ["my_token='a\\';cp x y; : 'b'", "my_token='‹token›\\';cp x y; : 'b'"],
    ['cookie: a=require(`fs`).cp(x, y)', 'cookie: a=require(`fs`).cp(x, y)'],
    ['echo ://a:b;cp${IFS}x${IFS}y;z@host', 'echo ://a:‹url_password›;cp${IFS}x${IFS}y;z@host'],
    ['echo "\nmy_token="a;cp x y"\n"', 'echo "\nmy_token="‹token›;cp x y"\n"'],
    ["echo 'my_token=\"a\\\"'; cp x y; echo '\"'", "echo 'my_token=\"‹token›\\\"'; cp x y; echo '\"'"],
    ['env my_token=\\" cp x y\\"', 'env my_token=\\" cp x y\\"'],
    ['/*\nmy_token="*/ run(); /*"\n*/', '/*\nmy_token="*/ run(); /*"\n*/'],
    ['s = "my_token="; run(); x = "b"', 's = "my_token="; run(); x = "b"'],
    ['curl -u me:x`cp a b` h', 'curl -u me:‹password›`cp a b` h'],
    ['curl -u me:x;cp$IFS a h', 'curl -u me:‹password›;cp$IFS a h'],
    ['Authorization: Bearer x|sh', 'Authorization: Bearer ‹authorization›|sh'],
    [
      'sshpass -p "x" ssh h "y"; sshpass -p "a$(cp x y)" z',
      'sshpass -p "‹password›" ssh h "y"; sshpass -p "‹password›$(cp x y)" z',
    ],
    ['password=${PATH:=x} make', 'password=${PATH:=x} make'],
    [': -----BEGIN PRIVATE KEY-----\ncp a b\nreboot', ': -----BEGIN PRIVATE KEY-----\ncp a b\nreboot'],
    // What a shell starts is no value of what stands before it.
    ...[
      'echo authorization: bearer\n./deploy1234567890123456.sh',
      'echo bearer\n/usr/local/bin/deploy1',
      'true login x password\n./run.sh',
      'curl h\n-u a:./run.sh',
      'echo Cookie:\nPATH=./bin1 make',
      'echo Cookie: a; LD_PRELOAD=abcdefgh123456789 make',
      'authorization=basic /bin/sh -c x',
      'a=bearer /usr/local/bin/deploy1 x',
      'a=authorization:bearer /bin/sh -c x',
      'env -u bearer /usr/local/bin/deploy1',
      'redis-cli ping && bash -a ./run.sh',
      'docker login r && bash -p ./run.sh',
      'redis-cli $(bash -a ./run.sh)',
      '${my_token:=./run1.sh}',
      'my_token= ./run1.sh',
      'env PGPASSWORD=\t"/usr/local/bin/deploy1" x',
      "sh -c 'api_key= deploy1 x'",
      'my_token= Deploy1                         x',
      'my_token= Deploy1|sh',
      'my_token= x$IFS"1"',
      ': -----BEGIN PRIVATE KEY-----\n/bin//////////////rm /home/kim/work/src',
      "perl -e '$my_token=~s/^/qx.reboot./e'",
      "perl -e '$my_token=qx:./run.sh:'",
      "ruby -e 'my_token=%x:./run.sh:'",
    ].map((line): [string, string] => [line, line]),
    // A value that is code and runs later shows that it is several words.
    ["my_token='cp a | sh'; eval $my_token", "my_token='‹token› ‹token› | ‹token›'; eval $my_token"],
    ['my_token=`cp a b` make', 'my_token=`cp a b` make'],
    ['password=`./run` make', 'password=`./run` make'],
    ['const password = `hunter2 x`', 'const password = `hunter2 x`'],
    ['const password = `hunter2`', 'const password = `‹password›`'],
    // Secrets still go, and say how long they are.
    ['A=1\nAPI_TOKEN= Zx81kfPq0aLm # live\nB=2', 'A=1\nAPI_TOKEN= ‹token› # live\nB=2'],
    ['db_password= "S3cret!"\nconnect(db_password)', 'db_password= "‹password›"\nconnect(db_password)'],
    ["mysql -p'a b;c' shop", "mysql -p'‹password› ‹password›;‹password›' shop"],
    ['SMTP_PASS="a b (c)" send', 'SMTP_PASS="‹password› ‹password› (‹password›)" send'],
    ['Cookie: theme=dark; session=Zm9vYmFy1234567890; x=1', 'Cookie: theme=‹cookie›; session=‹cookie›; x=1'],
    ['-H "Authorization: Bearer ab/cd123"', '-H "Authorization: Bearer ‹authorization›"'],
    ['Authorization: Basic ab/cd123', 'Authorization: Basic ‹authorization›'],
    ['log in with "bearer ab/cdefghijk12345678"', 'log in with "bearer ‹authorization›"'],
    ['machine h\nlogin kim\npassword hunter2', 'machine h\nlogin kim\npassword ‹password›'],
    ["curl 'http://h?a=1&b=2' -u kim:hunter2", "curl 'http://h?a=1&b=2' -u kim:‹password›"],
    ['use known-value, then first line\nsecond line.', 'use ‹value›, then ‹value›\n‹value›.'],
  ])('%s', (before, after) => {
    expect(text(before).replaceAll(/‹secret:(\w+), [\w -]+ characters›/g, '‹$1›')).toBe(after)
    expect(text(text(before))).toBe(text(before))
  })

  test('a mask says how long the secret is, roughly', () => {
    const sizes = [1, 8, 9, 16, 17, 32, 33, 64, 65].map(length =>
      text(`token=${'a1'.repeat(40).slice(0, length)}`),
    )
    expect(sizes.map(shown => /, (.*)›/.exec(shown)?.[1])).toEqual([
      ...['1-8 characters', '1-8 characters', '9-16 characters', '9-16 characters', '17-32 characters'],
      ...['17-32 characters', '33-64 characters', '33-64 characters', 'over 64 characters'],
    ])
  })

  test('a private key goes line by line, also in a diff and in JSON', () => {
    const line = 'MIIEpAIBAAKCAQEA7yn3bRHQ5FHMQ5FHMQ5FHM+/abcdefABCDEF0123456789zz'
    const key = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${line}\n${line}\nab12==\n-----END RSA PRIVATE KEY-----`
    const long = '‹secret:private_key, 33-64 characters›'
    const short = '‹secret:private_key, 1-8 characters›'
    const shown = key.replaceAll(line, long).replace('ab12==', short)
    expect(text(`a\n${key}\ncp a b`)).toBe(`a\n${shown}\ncp a b`)
    expect(text(key.replaceAll('\n', '\n+'))).toBe(shown.replaceAll('\n', '\n+'))
    expect(text(JSON.stringify({ key }))).toBe(JSON.stringify({ key: shown }))
  })

  test('what a pattern of the person matches goes word by word', () => {
    const own = createRedactor({ patterns: [compileLinear('card.*')] }).perToken
    expect(own.text('pay card 1234; cp a\nb').match(/‹secret:custom/g)).toHaveLength(4)
    expect(own.text('pay card 1234; cp a\nb').replaceAll(new RegExp(MASK, 'g'), '_')).toBe('pay _ _; _ _\nb')
  })

  test('a string under a secret key goes word by word', () => {
    expect(value({ password: 'a b\ncd', env: ['--token', 'x'] })).toEqual({
      password: 'a b\ncd'.replaceAll(/\w+/g, '‹secret:password, 1-8 characters›'),
      env: ['--token', '‹secret:token, 1-8 characters›'],
    })
  })
})

describe('property', () => {
  const secret = fc
    .tuple(fc.stringMatching(/^[a-z][A-Za-z0-9]{8,30}$/), fc.stringMatching(/^[0-9]{3}[a-z]$/))
    .map(parts => parts.join(''))
  const carrier = fc.constantFrom<readonly [string, string]>(
    ['TOKEN=', ''],
    ['--password ', ''],
    ['my_token="', '"'],
    ["api_key: '", "'"],
    ['"client_secret":"', '"'],
    ['{\\"password\\":\\"', '\\"}'],
    ['Cookie: sid=', ''],
    ['-H "Authorization: Bearer ', '"'],
    ['https://me:', '@host/x'],
    ['curl -u me:', ''],
    ['sshpass -p ', ''],
    ['redis-cli -a "', '"'],
    ['ghp_', ''],
  )
  // Nothing that is a secret itself, and everything that ends a word, a string or a line.
  const PUNCTUATION = ';  |&& | | |\n| |"|\'|`|$(|)|{|}|> |<<E\n|\\\\|/*|*/'
  const WORDS = 'cp a b,rm -rf x,require(`fs`),echo,x=1,import os,# note,//,if,+,${IFS},eval'
  const code = fc
    .array(fc.constantFrom(...PUNCTUATION.split('|'), ...WORDS.split(',')), { maxLength: 12 })
    .map(parts => parts.join(' '))

  test('code around a secret stays as it is, and the secret is not shown', () => {
    fc.assert(
      fc.property(
        code,
        carrier,
        secret,
        fc.constantFrom(' ', ';', '\n', ')', '|', ''),
        code,
        (before, [open, close], hidden, end, after) => {
          const own = open === 'ghp_' ? hidden.padEnd(36, 'x1') : hidden
          const line = `${before} ${open}${own}${close}${end === '' ? '' : `${end}${after}`}`
          const shown = text(line)
          expect(shown).not.toContain(own)
          const [left, right, ...more] = shown.split(MASK)
          expect(more).toEqual([])
          const kept = open === 'ghp_' ? '' : open
          expect(left).toBe(`${before} ${kept}`)
          expect(right).toBe(`${close}${end === '' ? '' : `${end}${after}`}`)
        },
      ),
      { numRuns: 2000, seed: 25 },
    )
  })

  test('whatever the text, only masks are put in, and each in the place of one word', () => {
    const word = fc.oneof(
      code,
      carrier.map(parts => parts.join('x1y2z3')),
      fc.string({ maxLength: 8 }),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), words => {
        const line = words.join('')
        let rest = line
        for (const part of text(line).split(new RegExp(MASK, 'g'))) {
          const at = rest.indexOf(part)
          // What a mask stands for is a run without blanks, or the first string of the text.
          const gone = rest.slice(0, at)
          expect(at).toBeGreaterThanOrEqual(0)
          expect(gone).not.toMatch(/[\n`]|\$\(/)
          rest = rest.slice(at + part.length)
        }
      }),
      { numRuns: 1000, seed: 25 },
    )
  })
})
