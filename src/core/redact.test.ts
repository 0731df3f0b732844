import { describe, expect, test } from 'vitest'
import { compileLinear } from './linear-pattern.ts'
import { createRedactor } from './redact.ts'

const { text, value, perToken } = createRedactor()

// Joined at run time, so that no scanner takes the examples of this file for leaked secrets.
const glue = (...parts: string[]): string => parts.join('')
const LETTERS = 'AbCdEfGh1234567890IjKlMnOpQrStUvWxYz'
const KEYS = {
  anthropic_key: glue('sk-', 'ant-api03-', LETTERS, '-', LETTERS),
  openai_key: glue('sk-', 'proj-', LETTERS),
  stripe_key: glue('sk_', 'live_', LETTERS),
  github_token: glue('ghp_', LETTERS),
  gitlab_token: glue('glpat-', LETTERS),
  aws_key: glue('AKIA', 'IOSFODNN7EXAMPLE'),
  slack_token: glue('xox', 'b-123456789012-', LETTERS),
  google_key: glue('AIza', LETTERS),
  google_token: glue('ya29', '.', LETTERS),
  npm_token: glue('npm_', LETTERS),
  pypi_token: glue('pypi-', LETTERS, LETTERS),
  huggingface_token: glue('hf_', LETTERS),
  webhook_secret: glue('whsec_', LETTERS),
  sendgrid_key: glue('SG.', LETTERS, '.', LETTERS),
  vendor_token: glue('dop', '_v1_', LETTERS),
  jwt: glue('eyJhbGciOiJIUzI1NiJ9', '.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.', LETTERS),
}

describe('secrets that show what they are', () => {
  test.each(Object.entries(KEYS))('%s is removed wherever it stands', (kind, secret) => {
    for (const around of ['', 'x ', '"', '=', '(', '/']) {
      expect(text(`${around}${secret}`)).toBe(`${around}‹secret:${kind}›`)
    }
    expect(text(`curl ${secret} and ${secret}.`)).not.toContain(LETTERS)
  })

  test.each([
    ['gho_', 'github_token'],
    ['ghs_', 'github_token'],
    ['github_pat_', 'github_token'],
    ['ASIA', 'aws_key'],
    ['rk_live_', 'stripe_key'],
    ['xoxp-', 'slack_token'],
  ])('%s… is known too', (prefix, kind) => {
    const rest = kind === 'aws_key' ? 'ABCDEFGHIJKLMNOP' : LETTERS
    expect(text(`say ${prefix}${rest} now`)).toBe(`say ‹secret:${kind}› now`)
  })

  test('a private key goes with its begin and end, and what stands around it stays', () => {
    const body = `${LETTERS}\n${LETTERS}==`
    const key = glue(
      '-----BEGIN RSA PRIVATE',
      ` KEY-----\nProc-Type: 4,ENCRYPTED\n\n${body}\n-----END RSA PRIVATE`,
      ' KEY-----',
    )
    expect(text(`a\n${key}\nb\n${key}\nc`)).toBe('a\n‹secret:private_key›\nb\n‹secret:private_key›\nc')
    expect(text(JSON.stringify({ key, other: 'stays' }))).toBe(
      '{"key":"‹secret:private_key›","other":"stays"}',
    )
    expect(text(key.slice(0, 90))).toBe('‹secret:private_key›')
    expect(text(`if (pem.includes('${key.slice(0, 31)}')) return`)).toBe(
      "if (pem.includes('‹secret:private_key›')) return",
    )
  })
})

describe('secrets that their surroundings give away', () => {
  test.each([
    ['Authorization: Bearer abc', 'Authorization: Bearer ‹secret:authorization›'],
    ['authorization: Basic dXNlcjpwdw==', 'authorization: Basic ‹secret:authorization›'],
    ["-H 'Authorization: token abc123'", "-H 'Authorization: token ‹secret:authorization›'"],
    ['{"Authorization":"Bearer abc"}', '{"Authorization":"Bearer ‹secret:authorization›"}'],
    ['send Bearer 0123456789abcdef now', 'send Bearer ‹secret:authorization› now'],
    ['Cookie: session=abc; id=4', 'Cookie: session=‹secret:cookie›'],
    ['https://user:pw@host/path', 'https://user:‹secret:url_password›@host/path'],
    ['postgres://u:p@ss@db:5432/x', 'postgres://u:‹secret:url_password›@db:5432/x'],
    ['redis://:pw@host', 'redis://:‹secret:url_password›@host'],
    ['git clone https://abcdefghij0123456789@host/x', 'git clone https://‹secret:url_password›@host/x'],
    ['sshpass -p hunter2 ssh h', 'sshpass -p ‹secret:password› ssh h'],
    ['mysql -u root -phunter2 db', 'mysql -u root -p‹secret:password› db'],
    ['docker login -u me -p hunter2 host', 'docker login -u me -p ‹secret:password› host'],
    ['redis-cli -h x -a hunter2 ping', 'redis-cli -h x -a ‹secret:password› ping'],
    ['curl -s -u me:hunter2 https://x', 'curl -s -u me:‹secret:password› https://x'],
    ['machine h login me password hunter2', 'machine h login me password ‹secret:password›'],
    ['{"auths":{"h":{"auth":"dXNlcjpwdw=="}}}', '{"auths":{"h":{"auth":"‹secret:authorization›"}}}'],
  ])('%s', (before, after) => {
    expect(text(before)).toBe(after)
  })

  test.each([
    ['password=hunter', 'password=‹secret:password›'],
    ['DB_PASSWORD=hunter npm start', 'DB_PASSWORD=‹secret:password› npm start'],
    ['export GITHUB_TOKEN=abc', 'export GITHUB_TOKEN=‹secret:token›'],
    ['SMTP_PASS="a b c"', 'SMTP_PASS="‹secret:password›"'],
    ['MYSQL_PWD=abc', 'MYSQL_PWD=‹secret:password›'],
    ['/cb?access_token=abc&x=1', '/cb?access_token=‹secret:token›&x=1'],
    ['{"api_key": "abc", "x": 1}', '{"api_key": "‹secret:api_key›", "x": 1}'],
    ['{"password":"a\\"b\\\\"}', '{"password":"‹secret:password›"}'],
    ['"{\\"password\\":\\"a\\\\\\"b\\",\\"x\\":1}"', '"{\\"password\\":\\"‹secret:password›\\",\\"x\\":1}"'],
    ["const apiKey = 'abc'", "const apiKey = '‹secret:api_key›'"],
    ['client_secret: a1b2c3d4', 'client_secret: ‹secret:secret›'],
    ['services:\n  db:\n    password: postgres\n', 'services:\n  db:\n    password: ‹secret:password›\n'],
    ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'aws_secret_access_key = ‹secret:secret_access_key›'],
    ['//host/:_authToken=abcdef', '//host/:_authToken=‹secret:token›'],
    ['tool --password x --verbose', 'tool --password ‹secret:password› --verbose'],
    ['tool --client-secret "a b"', 'tool --client-secret "‹secret:secret›"'],
    ['tool --api-key=abc', 'tool --api-key=‹secret:api_key›'],
    [
      'PASSWORD_2=abc SECRET_KEY_BASE=def',
      'PASSWORD_2=‹secret:password› SECRET_KEY_BASE=‹secret:secret_key›',
    ],
  ])('%s', (before, after) => {
    expect(text(before)).toBe(after)
  })

  test('a long secret goes to its end', () => {
    const long = 'a1'.repeat(5_000)
    expect(text(`TOKEN=${long} x`)).toBe('TOKEN=‹secret:token› x')
    expect(text(`token: "${long}" x`)).toBe('token: "‹secret:token›" x')
  })

  test('redacting twice changes nothing more', () => {
    for (const sample of [
      ...Object.values(KEYS),
      'TOKEN=abc',
      '{"secret":"x"}',
      'https://u:p@h',
      'Authorization: Bearer x',
    ]) {
      const once = text(`TOKEN=${sample} ${sample}`)
      expect(text(once)).toBe(once)
    }
  })
})

describe('what stays', () => {
  test.each([
    '9fceb02d0ae598e95dc970b74767f19372d61af8',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '123e4567-e89b-12d3-a456-426614174000',
    'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4',
    'sha512-MbTgJ7yJ3bqQpZkGx0gLz8wB0hJxkq1l2ZbqTGNFyW9jH0oXcE1Yb0r9LZ1rM1c4oYc4zOQ==',
    'The password must be at least 12 characters. Forgot your password? Choose a new token.',
    'pass: 12, fail: 0',
    'PWD=/home/kim OLDPWD=/tmp',
    'max_tokens=500 tokens: 12 next_page_token=abc pageToken: "abc"',
    'interface Login { password: string; token?: string; secret: SecretRef }',
    'type A = {\n  token: Token\n  password: string\n}',
    'const token = await getToken(); login({ password: form.password, token })',
    'connect(password=password, api_key=os.environ["KEY"], token=self.token)',
    'if (token === "abc") return',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell variable
    'password=$PASSWORD token="${TOKEN}" secret={{ vault.x }} apiKey: "<your key>"',
    'use --token to pass a token, or --password if there is none',
    'docker build --secret id=npm,src=.npmrc .',
    'task-management-of-the-whole-organisation risk-assessment-and-more-of-it-here',
    'sk-learn-like-names-without-any-digit',
    'http://localhost:3000/a@b see http://host:80 or mail me@example.org',
    'git@github.com:owner/repo.git ssh://git@host:22/x',
    'npm_config_registry npm_lifecycle_event',
    'mysql -u root -p shop; cp -pr a b; mkdir -p a/b',
    "fetch(url, { credentials: 'include' })",
    'the bearer of this letter; cookie: a small cake',
    'keyboard: qwerty1 monkey=banana1 key=value1',
  ])('%s', sample => {
    expect(text(sample)).toBe(sample)
  })
})

// biome-ignore lint/suspicious/noTemplateCurlyInString: a shell variable
const VARIABLE = '${TOKEN}'

describe('values', () => {
  test('every string and key is redacted in a copy, and the original stays', () => {
    const input = {
      a: [`x ${KEYS.github_token}`],
      [KEYS.npm_token]: 1,
      n: null,
      b: true,
      nested: { token: 'abc' },
    }
    const before = structuredClone(input)
    expect(value(input)).toEqual({
      a: ['x ‹secret:github_token›'],
      '‹secret:npm_token›': 1,
      n: null,
      b: true,
      nested: { token: '‹secret:token›' },
    })
    expect(input).toEqual(before)
  })

  test('a key that promises a secret hides the whole text below it', () => {
    expect(
      value({
        password: 'a b',
        apiKey: 'x',
        'X-Api-Key': 'x',
        headers: { Authorization: 'x', 'set-cookie': ['a', 'b'] },
        env: { FOO_TOKEN: 'x', PATH: '/bin', EMPTY_SECRET: '', REF_TOKEN: VARIABLE },
        max_tokens: 5,
        nextPageToken: 'abc',
      }),
    ).toEqual({
      password: '‹secret:password›',
      apiKey: '‹secret:api_key›',
      'X-Api-Key': '‹secret:api_key›',
      headers: {
        Authorization: '‹secret:authorization›',
        'set-cookie': ['‹secret:cookie›', '‹secret:cookie›'],
      },
      env: { FOO_TOKEN: '‹secret:token›', PATH: '/bin', EMPTY_SECRET: '', REF_TOKEN: VARIABLE },
      max_tokens: 5,
      nextPageToken: 'abc',
    })
  })

  test('a word behind a flag that promises a secret goes, and no other word of the list', () => {
    expect(value(['srv', '--token', 'tea', '-p', 'x', '--api-key', 'two'])).toEqual([
      'srv',
      '--token',
      '‹secret:token›',
      '-p',
      'x',
      '--api-key',
      '‹secret:api_key›',
    ])
  })

  test('two keys that look the same once redacted both stay', () => {
    expect(value({ [KEYS.npm_token]: 1, [`${KEYS.npm_token}2`]: 2 })).toEqual({
      '‹secret:npm_token›': 1,
      '‹secret:npm_token›+': 2,
    })
  })

  test('depth and cycles cannot overflow the stack', () => {
    let deep: unknown = 'bottom'
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    expect(JSON.stringify(value(deep))).toContain('nested too deeply')
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    cycle.again = cycle
    expect(value(cycle)).toEqual({ self: '‹circular›', again: '‹circular›' })
  })

  test('a `__proto__` key stays data', () => {
    const copied = value(JSON.parse('{"__proto__": {"polluted": true}}'))
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype)
    expect(JSON.stringify(copied)).toBe('{"__proto__":{"polluted":true}}')
  })
})

describe('own patterns and values', () => {
  test('every match of a pattern is removed', () => {
    expect(
      createRedactor({ patterns: [compileLinear('(?i)internal-[0-9]+')] }).text('internal-1 internal-2'),
    ).toBe('‹secret:custom› ‹secret:custom›')
  })

  test('a known secret goes as it is, inside JSON, and inside a URL', () => {
    const secret = 'p"w/ $&x'
    const redactor = createRedactor({ values: [secret, 'p"w/'] })
    for (const spelling of [secret, JSON.stringify(secret), encodeURIComponent(secret)]) {
      expect(redactor.text(`<${spelling}>`)).toMatch(/^<"?‹secret:value›"?>$/)
    }
  })

  test('very short values are not removed', () => {
    expect(createRedactor({ values: ['a', ''] }).text('banana')).toBe('banana')
  })
})

describe('cost', () => {
  const MEGABYTE = 1024 * 1024
  const UNITS = [
    ...[
      'sk-',
      'sk-ant-',
      'ghp_',
      'eyJ',
      'eyJaaaaaaaa.',
      'eyJaaaaaaaa.eyJ',
      'SG.',
      'xoxb-',
      'AKIA',
      'npm_',
      'r8_',
      'xai-',
    ],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN ',
      '://',
      '://a:',
      '://a:b',
      'http://a:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ',
    ],
    ...[
      'password',
      'password=',
      'password:',
      'password: ',
      "password='",
      'password="\\',
      'password=password',
      `password="<password='<`,
      'token: aaaa',
    ],
    ...[
      '--',
      '--password',
      '--password ',
      '--a-',
      'Authorization: ',
      'Bearer ',
      'Bearer a',
      'cookie: a',
      'cookie:a=',
    ],
    ...[
      'mysql ',
      'curl ',
      'curl -u ',
      'docker login ',
      'docker ',
      'login a password ',
      'secret access key',
      '"auth":"',
      'cookie: a=b; c=aaaaaaaaaaaaaaaa1',
      '; c=aaaaaaaaaaaaaaaa1 cookie',
      '-----BEGIN PRIVATE KEY-----\\n',
      '\\',
      '"',
      ' ',
      'a',
    ],
  ]

  test.each(UNITS)('a megabyte of %j takes linear time', unit => {
    const hostile = unit.repeat(Math.ceil(MEGABYTE / unit.length))
    // Linear patterns need 5 to 300 ms; a quadratic one would need minutes, and end this test by its time limit.
    expect(typeof text(hostile)).toBe('string')
    expect(typeof perToken.text(hostile)).toBe('string')
    value({ password: { [hostile.slice(0, 1000)]: hostile } })
  })

  test('eight megabytes without a break do not exhaust the stack', () => {
    for (const redact of [text, perToken.text]) {
      for (const unit of ['A', 'password=']) redact(unit.repeat((8 * MEGABYTE) / unit.length))
      redact(`-----BEGIN PRIVATE KEY-----${'A'.repeat(8 * MEGABYTE)}`)
    }
  })
})
