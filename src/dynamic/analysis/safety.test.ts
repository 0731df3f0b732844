import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { parseCode, parseJavaScript, toScript } from './parse-code.ts'
import { hasNestedQuantifier } from './pattern-risk.ts'
import { analyzeSafety } from './safety.ts'
import { stripTypes } from './strip-types.ts'

const found = (code: string): string[] =>
  analyzeSafety(parseJavaScript(code)).issues.map(({ type, severity }) => `${type} ${severity}`)
const inBody = (body: string): string[] => found(`async function execute(params) {\n${body}\n}`)

describe('the safety analysis', () => {
  it('gives the three documented examples their documented scores', () => {
    const score = (code: string): number => analyzeSafety(parseJavaScript(code)).score
    expect(
      score('async function execute(params) { return (params.text || "").split("").reverse().join("") }'),
    ).toBe(1)
    expect(
      score(
        'async function execute(params) { const sum = params.numbers.reduce((a, b) => a + b, 0); return sum / 2 }',
      ),
    ).toBe(1)
    const fetchJson =
      'async function execute(params) { const c = new AbortController(); const id = setTimeout(() => c.abort(), 5000); try { return await (await fetch(params.url, { signal: c.signal })).json() } finally { clearTimeout(id) } }'
    expect(score(fetchJson)).toBe(0.75)
    expect(analyzeSafety(parseJavaScript(fetchJson), { allowed: ['network-access'] }).score).toBe(1)
  })

  it.each([
    ['// eval( while(true) rm -rf child_process password'],
    ['const text = "eval(1) fetch( rm -rf token process.env"; return text'],
    ['let i = 0; i++; ++i; return 2 ** i'],
    ['const tokens = []; tokens.push(1); return tokens'],
    ['return /a+/.exec("a") ?? new Set([1]).delete(1)'],
    ['/** doc */ return params instanceof Function'],
    ['class A { copy() { return new this.constructor() } } return new A().copy().constructor.name'],
    ['return Object.assign({}, params)'],
    ['return /(\\d+)-(\\d+)/.test("1-2") || /(?:ab+c)?/.test("")'],
    ['const spawn = 1; return spawn'],
    ['return { __proto__: null, kind: params.x.constructor.name, same: params.x.constructor === Object }'],
    ['return await kogu.callTool("read_file", { path: "a.txt" })'],
    ['return "-".repeat(40) + [1].concat(params.list).map(String)'],
    ['for (const x of params.list) await x'],
  ])('has no false alarm on %s', body => {
    expect(inBody(body)).toEqual([])
  })

  it.each([
    ['eval("1")', 'eval-usage critical'],
    ['(0, eval)("1")', 'eval-usage critical'],
    ['const e = eval; e("1")', 'eval-usage critical'],
    ['globalThis["ev" + "al"]("1")', 'eval-usage critical'],
    ['globalThis[`eval`]("1")', 'eval-usage critical'],
    ['globalThis[["l", "a", "v", "e"].reverse().join("")]("1")', 'eval-usage critical'],
    ['globalThis[atob("ZXZhbA==")]("1")', 'eval-usage critical'],
    ['globalThis[String.fromCharCode(101, 118, 97, 108)]("1")', 'eval-usage critical'],
    ['[eval][0]("1")', 'eval-usage critical'],
    ['new Function("1")', 'eval-usage critical'],
    ['(() => {}).constructor("1")()', 'eval-usage critical'],
    ['const { eval: e } = globalThis; e("1")', 'eval-usage critical'],
    ['let e; ({ ["ev" + "al"]: e } = globalThis); e("1")', 'eval-usage critical'],
    ['const { constructor: { constructor: F } } = {}; F("1")()', 'eval-usage critical'],
    ['globalThis["e-v-a-l".replaceAll("-", "")]("1")', 'eval-usage critical'],
    ['let c = () => {}; c = c.constructor; c("1")()', 'eval-usage high'],
    ['const f = x => x.constructor; f(f)("1")', 'eval-usage high'],
    ['""["constructor"]["constr" + "uctor"]("1")()', 'eval-usage critical'],
    ['const C = [].constructor.constructor; C("1")()', 'eval-usage critical'],
    ['const { constructor: C } = (() => {}); C("1")', 'eval-usage critical'],
    ['new (Object.getPrototypeOf(async () => {}).constructor)("1")', 'eval-usage critical'],
    ['vm.runInNewContext("1")', 'eval-usage critical'],
    ['await import(params.x)', 'eval-usage critical'],
    ['return import.meta.url', 'environment-access critical'],
    ['setTimeout("x()", 5)', 'eval-usage high'],
    ['globalThis[params.x]', 'eval-usage high'],
    ['const { exec } = require("child_process"); exec("ls")', 'process-spawn critical'],
    ['require("node:child_process").spawnSync("ls")', 'process-spawn critical'],
    ['execSync("ls")', 'process-spawn critical'],
    ['fs.rmSync("/")', 'file-system-delete critical'],
    ['fs["unl" + "ink"]("/")', 'file-system-delete critical'],
    ['const f = fs; f.rm("x")', 'file-system-delete critical'],
    ['fs.writeFileSync("x", "y")', 'file-system-write high'],
    ['fs.mkdirSync("x")', 'file-system-write medium'],
    ['const get = fetch; await get("https://a.test")', 'network-access high'],
    ['return params.list.map(fetch)', 'network-access high'],
    ['fetch.call(null, "https://a.test")', 'network-access high'],
    ['new WebSocket("wss://a.test")', 'network-access high'],
    ['process.env.HOME', 'environment-access medium'],
    ['process["env"]["HOME"]', 'environment-access medium'],
    ['process.exit()', 'environment-access high'],
    ['const g = globalThis; return g', 'environment-access high'],
    ['const apiKey = params.k; return apiKey', 'sensitive-data high'],
    ['return params.user_password', 'sensitive-data high'],
    ['while (true) {}', 'unbounded-operation high'],
    ['for (;;);', 'unbounded-operation high'],
    ['while (1) { switch (params.x) { case 1: break } }', 'unbounded-operation high'],
    ['for (;;) { if (params.x) return 1 }', 'unbounded-operation low'],
    ['setTimeout(() => {}, 1000 * 10000)', 'resource-exhaustion medium'],
    ['new ArrayBuffer(2 ** 30)', 'resource-exhaustion medium'],
    ['return "x".repeat(1e9)', 'resource-exhaustion medium'],
    ['params.__proto__.x = 1', 'prototype-pollution high'],
    ['params["__pro" + "to__"].x = 1', 'prototype-pollution high'],
    ['const { __proto__: p } = params; p.x = 1', 'prototype-pollution high'],
    ['const { a: { ["__pro" + "to__"]: p } } = params; p.x = 1', 'prototype-pollution high'],
    ['let p; ({ "__proto__": p = {} } = params); p.x = 1', 'prototype-pollution high'],
    ['for (const { __proto__: p } of params.list) p.x = 1', 'prototype-pollution high'],
    ['[1].map(({ __proto__: p }) => { p.x = 1 })', 'prototype-pollution high'],
    ['params.constructor.prototype.x = 1', 'prototype-pollution high'],
    ['Object.prototype.x = 1', 'prototype-pollution high'],
    ['Object.assign({}, ...params.list)', 'prototype-pollution high'],
    ['/(a+)+$/.test("a")', 'unsafe-regex medium'],
    ['/(a*)*$/.test("a")', 'unsafe-regex medium'],
    ['new RegExp("(x+x+)+y").test("x")', 'unsafe-regex medium'],
    ['kogu.callTool("run_command", { command: "rm -rf build" })', 'file-system-delete critical'],
    ['kogu.callTool("Bash", { command: "rm -rf build" })', 'file-system-delete critical'],
    ['kogu.callTool("something", {})', 'process-spawn high'],
  ])('sees what %s does', (body, expected) => {
    expect(inBody(body)).toContain(expected)
  })

  it('counts a finding once, and weighs half as much again when strict', () => {
    const code = parseJavaScript('function execute(p) { eval("1"); return p.password + p.password }')
    expect(analyzeSafety(code)).toMatchObject({
      score: 0.25,
      isSafe: false,
      blockedOperations: ['eval-usage'],
      confidence: 0.5,
    })
    expect(analyzeSafety(code, { strict: true }).score).toBe(0)
  })

  it('reads TypeScript, and says what it cannot read', async () => {
    const code = await parseCode(
      'enum Mode { A }\nexport default async function (p: { x: number }): Promise<number> { return p.x + Mode.A }',
    )
    expect(analyzeSafety(code).score).toBe(1)
    expect(toScript(code)).toContain('defaultExport')
    const clash = parseJavaScript('const defaultExport = () => 1\nexport default defaultExport')
    expect(() => new Script(toScript(clash))).not.toThrow()
    await expect(parseCode('function execute( {')).rejects.toThrow(/Unexpected token/)
    await expect(parseCode('['.repeat(100_000))).rejects.toThrow()
    expect(() => toScript(parseJavaScript("import x from 'y'"))).toThrow(/No module can be imported/)
  })

  it.each([
    ['('.repeat(10_000)],
    ['({a:'.repeat(5_000)],
    [`a${'+a'.repeat(20_000)} as any`],
    ['()=>'.repeat(5_000)],
  ])('reads TypeScript after code that breaks the compiler', async hostile => {
    await expect(parseCode(`const x: number = ${hostile}`)).rejects.toThrow()
    await expect(parseCode('enum Mode { A }')).resolves.toBeDefined()
  })

  it.each([
    ['function execute(x, y) { x <!--/*\nf() //*/y\n}'],
    ['function execute(x: number, y) { x <!--/*\nf() //*/y\n}'],
    ['enum Mode { A }\nfunction execute(x, y) { x <!--/*\nf() //*/y\n}'],
    ['enum Mode { A }\nfunction execute() { f()\n--> hidden()\n}'],
    // The text of the enum comes out twice.
    ['enum Mode { "-->" = 1 }\nfunction execute(p) { let x = 1\nx <!-- p; p.check()\n}'],
  ])('refuses what is a comment where it runs: %j', async code => {
    await expect(parseCode(code)).rejects.toThrow(/cannot be used: write spaces/)
  })

  it('says what is wrong with TypeScript, and that it took too long', async () => {
    await expect(parseCode('const a: number = 1\nlet b, b')).rejects.toThrow(
      "Unexpected token (1:7); read as TypeScript: Identifier 'b' has already been declared (2:7)",
    )
    await expect(parseCode('const a: number = ')).rejects.toThrow('read as TypeScript: Expression expected')
    await expect(stripTypes('const a: number = 1', 1)).rejects.toThrow('within 0.001 s')
  })

  it('does not let code close the function it is put into', async () => {
    await expect(parseCode('}); attack(); (function () {')).rejects.toThrow()
  })

  it('finds nested quantifiers by structure', () => {
    expect(['(a+)+', '(a*)*', '((a+)b*)+', '(a{2,})*', '([a-z]+)*'].map(hasNestedQuantifier)).toEqual(
      Array(5).fill(true),
    )
    expect(['a+b*', '(a+)b+', '[(a+)+]', '\\(a+\\)+', '(ab?)+', '(a+){2}'].map(hasNestedQuantifier)).toEqual(
      Array(6).fill(false),
    )
  })
})
