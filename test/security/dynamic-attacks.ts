// A table: programs that model-written code could be, each with what it does to a host that runs it in `node:vm`.

export interface Attack {
  readonly name: string
  /** The body of `async function execute(params)`. */
  readonly body: string
  /** What is seen from outside when it works. */
  readonly does: 'leak' | 'drop' | 'connect' | 'down' | 'confuse'
}

/** Ways to something of the host: each gives a `Function` of the realm in which the host's own code runs. */
const ROUTES: readonly string[] = [
  'console.log.constructor',
  'console.log.call.constructor',
  "console['log']['constru' + 'ctor']",
  'console.log.__proto__.constructor',
  "Object.getOwnPropertyDescriptor(console, 'log').value.constructor",
  "Reflect.get(console, 'log').constructor",
  'console.constructor.constructor',
  'Object.getPrototypeOf(console).constructor.constructor',
  'params.constructor.constructor',
  'params.__proto__.constructor.constructor',
  'params.list.constructor.constructor',
  'params.list.map.constructor',
  'params.nested.deep.constructor.constructor',
  'setTimeout.constructor',
  'setTimeout(() => {}, 0).constructor.constructor',
  'queueMicrotask.constructor',
  'structuredClone.constructor',
  'structuredClone({}).constructor.constructor',
  'URL.constructor',
  "new URL('http://a.test/').constructor.constructor",
  "new URL('http://a.test/').searchParams.constructor.constructor",
  "(() => { try { new URL('::') } catch (e) { return e.constructor.constructor } })()",
  "(() => { try { atob('%') } catch (e) { return e.constructor.constructor } })()",
  '(() => { try { structuredClone(() => {}) } catch (e) { return e.constructor.constructor } })()',
  'atob.constructor',
  'new AbortController().signal.constructor.constructor',
  "new TextEncoder().encode('').constructor.constructor",
  'TextDecoder.constructor',
  'crypto.constructor.constructor',
  "(await crypto.subtle.digest('SHA-256', new Uint8Array(1))).constructor.constructor",
  'crypto.getRandomValues.constructor',
  'performance.now.constructor',
  'new Headers().constructor.constructor',
  "(await new Response('{}').json()).constructor.constructor",
  'fetch.constructor',
  'kogu.callTool.constructor',
  "kogu.callTool('x').catch(() => {}).constructor.constructor",
  "kogu.callTool('x').catch(() => {}).then.constructor",
  "await kogu.callTool('x').catch(e => e.constructor.constructor)",
  "await import('node:fs').catch(e => e.constructor.constructor)",
  'globalThis.constructor.constructor',
  'globalThis.__proto__.constructor.constructor',
  'await new Promise(done => { Promise.resolve().then(() => done(console.log.constructor)) })',
  'Reflect.construct(console.log.constructor, []).constructor',
  'await { then(resolve) { resolve(console.warn.constructor) } }',
  'new Proxy(console.log, {}).constructor',
  '({ get found() { return console.log } }).found.constructor',
  "(() => { const E = console.log.constructor('return Error')(); E.prepareStackTrace = (_, frames) => frames; return new E('x').stack[0].constructor.constructor })()",
]

interface Payload {
  readonly does: Attack['does']
  readonly name: string
  /** With `F`, a Function of the host, and `P`, the text that gives its process. */
  readonly body: string
}

const PAYLOADS: readonly Payload[] = [
  {
    name: 'reads a file',
    does: 'leak',
    body: "return (await F(P)()).getBuiltinModule('fs').readFileSync(params.canary, 'utf8')",
  },
  { name: 'reads the environment', does: 'leak', body: 'return (await F(P)()).env.KOGU_CANARY' },
  {
    name: 'writes a file',
    does: 'drop',
    body: "(await F(P)()).getBuiltinModule('fs').writeFileSync(params.drop, 'x')",
  },
  {
    name: 'starts a program',
    does: 'drop',
    body: "(await F(P)()).getBuiltinModule('child_process').execFileSync('/usr/bin/touch', [params.drop])",
  },
  {
    name: 'connects to a port',
    does: 'connect',
    body: "const socket = (await F(P)()).getBuiltinModule('net').connect(params.port, '127.0.0.1'); await new Promise(done => { socket.on('error', done); socket.end(params.mark, done) })",
  },
  {
    name: 'kills the host',
    does: 'down',
    body: "const host = (await F(P)()); host.kill(host.pid, 'SIGKILL')",
  },
]

/** Every way with two things to do, so that all things are tried in many ways. */
const ESCAPES: readonly Attack[] = ROUTES.flatMap((route, index) =>
  [index % 2, 2 + (index % 4)].map(number => {
    const { name, does, body } = PAYLOADS[number] ?? { name: '', does: 'leak' as const, body: '' }
    return {
      name: `${name} by ${route.slice(0, 60)}`,
      does,
      body: `const F = ${route}; const P = 'return proc' + 'ess'; ${body}`,
    }
  }),
)

/** What takes the host down by itself: time, memory, or its own loop. */
const BOMBS: readonly Attack[] = [
  ['an empty loop', 'while (true);'],
  ['a loop that swallows every error', 'for (;;) { try { null.x } catch {} }'],
  ['a loop in a getter of the result', 'return { get value() { for (;;); } }'],
  ['a loop in toJSON of the result', 'return { toJSON() { for (;;); } }'],
  ['a loop in a proxy as the result', 'return new Proxy({}, { ownKeys() { for (;;); } })'],
  ['a loop in then of the result', 'return { then() { for (;;); } }'],
  ['a loop in toString of what it throws', 'throw { get message() { for (;;); }, toString() { for (;;); } }'],
  ['a loop in a comparator', 'let n = 0; [3, 1, 2].sort(() => { for (;;) n++; })'],
  ['a loop in a replacer', "'aa'.replace(/a/g, () => { for (;;); })"],
  ['a loop in a timer', 'await new Promise(() => setTimeout(() => { for (;;); }, 1))'],
  ['an endless iterator', 'function* g() { for (;;) yield 1 } for (const each of g()) void each'],
  ['an endless spread', 'function* g() { for (;;) yield {} } return [...g()]'],
  ['endless awaits', 'for (;;) await 0'],
  ['endless then', 'const f = () => Promise.resolve().then(f); await f()'],
  ['endless microtasks', 'const f = () => queueMicrotask(f); f(); await new Promise(() => {})'],
  [
    'an endless async iterator',
    'async function* g() { for (;;) yield 1 } for await (const each of g()) void each',
  ],
  ['a regular expression', "/^(a+)+$/.test('a'.repeat(50) + 'b')"],
  ['a regular expression of two repeats', "/(x+x+)+y/.test('x'.repeat(60))"],
  ['a regular expression of alternatives', "/^(a|aa)+$/.test('a'.repeat(90) + 'b')"],
  [
    'a string that doubles',
    "let s = 'x'; const all = []; for (;;) { s = s.length < 2 ** 27 ? s + s : s; s.charCodeAt(3); all.push(s + all.length); all.at(-1).charCodeAt(9) }",
  ],
  [
    'strings that repeat',
    "const all = []; for (let n = 0; ; n++) { all.push((n + 'y').repeat(2 ** 22)); all.at(-1).split('').length }",
  ],
  ['array buffers', 'const all = []; for (;;) all.push(new Uint8Array(2 ** 24).fill(1))'],
  [
    'growing array buffers',
    'const all = []; for (;;) { const b = new ArrayBuffer(1024, { maxByteLength: 2 ** 26 }); b.resize(2 ** 26); new Uint8Array(b).fill(7); all.push(b) }',
  ],
  ['arrays', 'const all = []; for (;;) all.push(new Array(10000).fill(all))'],
  ['objects', 'let head = null; for (;;) head = { head, data: [1, 2, 3, 4] }'],
  ['maps', 'const map = new Map(); for (let n = 0; ; n++) map.set(n, { n })'],
  ['closures', 'const all = []; for (;;) { const x = new Array(100).fill(0); all.push(() => x) }'],
  ['large numbers', 'let n = 3n; for (;;) n = n * n'],
  [
    'a loop in WebAssembly',
    'new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 3, 64, 12, 0, 11, 11]))).exports.f()',
  ],
  ['a wait for ever', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'],
  ['timers', 'for (;;) setTimeout(() => {}, 1e6)'],
  ['calls of tools', "for (;;) kogu.callTool('x'.repeat(1e5)).catch(() => {})"],
  [
    'a loop in a stack trace',
    'Error.prepareStackTrace = () => { for (;;); }; const e = new Error(); Error.captureStackTrace(e); return e.stack',
  ],
  ['a huge join', 'for (;;) new Array(2 ** 24).fill(1).join("abcdefgh").length'],
  ['pending promises', 'const all = []; for (;;) all.push(new Promise(() => {}).then(() => all))'],
  [
    'errors with stacks',
    'const all = []; for (;;) all.push(new Error("x".repeat(10000)).stack + all.length)',
  ],
  ['proxies of proxies', 'let p = {}; for (;;) p = new Proxy(p, {})'],
  ['what it logs', 'for (;;) console.log("x".repeat(100000))'],
  [
    'a result that is too large',
    'return Array.from({ length: 3e6 }, (_, n) => ({ n, text: "x".repeat(50) }))',
  ],
  ['typed array sort', 'for (;;) new Float64Array(2 ** 22).map(Math.random).sort()'],
  [
    'a slow parse',
    'const text = "[".repeat(50000) + "]".repeat(50000); for (;;) { try { JSON.parse(text) } catch {} }',
  ],
].map(([name = '', body = '']) => ({ name: `ends the host with ${name}`, body, does: 'down' as const }))

/** What changes the host for whoever is served next. */
const CONFUSIONS: readonly Attack[] = [
  ['its timers', "params.constructor.constructor('setTimeout = undefined')()"],
  ['its races', "params.list.map.constructor('Promise.race = () => 1')()"],
  ['its copies', "URL.constructor('structuredClone = () => ({ n: 0 })')()"],
  ['the JSON of the host', "console.log.constructor('JSON.stringify = () => \\'\"forged\"\\'')()"],
  [
    'the promises of the host',
    "const p = kogu.callTool('x'); p.catch(() => {}); p.constructor.prototype.then = function (done) { done('forged') }",
  ],
  [
    'the vm of the host',
    "console.log.constructor('return proc' + 'ess')().getBuiltinModule('vm').Script.prototype.runInContext = () => () => 'forged'",
  ],
].map(([name = '', body = '']) => ({
  name: `forges results through ${name}`,
  body,
  does: 'confuse' as const,
}))

export const ATTACKS: readonly Attack[] = [...ESCAPES, ...BOMBS, ...CONFUSIONS]
