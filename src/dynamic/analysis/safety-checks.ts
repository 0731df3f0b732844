import type { AnyNode } from 'acorn'
import { full } from 'acorn-walk'
import type { Bindings } from './bindings.ts'
import type { SafetyKind } from './kinds.ts'
import { hasNestedQuantifier } from './pattern-risk.ts'
import type { Severity } from './safety.ts'
import { CALLED, MODULES, REFERENCED, toolKind } from './safety-names.ts'

export interface Found {
  readonly type: SafetyKind
  readonly severity: Severity
  readonly what: string
  /** Counted once for the whole code, not once for each place: a name that is used often is one finding. */
  readonly once?: boolean
}

/** What one node of the tree is found to do. Every finding belongs to exactly one node. */
export function findIn(node: AnyNode, parent: AnyNode | undefined, bindings: Bindings): Found[] {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      return findInCall(node, bindings)
    case 'ImportExpression':
      return findInImport(bindings.textOf(node.source))
    case 'ImportDeclaration':
      return findInImport(bindings.textOf(node.source))
    case 'MetaProperty':
      if (node.meta.name !== 'import') return []
      return [{ type: 'environment-access', severity: 'critical', what: 'import.meta' }]
    case 'MemberExpression':
      return findInMember(node, parent, bindings)
    case 'Identifier':
      return findInIdentifier(node, parent, bindings)
    case 'Property':
      return findInProperty(node, bindings)
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'ForStatement':
      return findInLoop(node)
    case 'Literal':
      if (node.regex === undefined || node.regex === null || !hasNestedQuantifier(node.regex.pattern))
        return []
      return [{ type: 'unsafe-regex', severity: 'medium', what: `/${node.regex.pattern}/` }]
    case 'AssignmentExpression':
      if (node.left.type === 'ObjectPattern')
        return findInPattern(node.left, bindings.pathOf(node.right), bindings)
      return findInAssignment(node, bindings)
    case 'ObjectPattern':
      // Of parameters, loops and catch clauses too. Other names that are taken out are found where they are bound.
      return node.properties
        .flatMap(property => (property.type === 'Property' ? findInProperty(property, bindings) : []))
        .filter(({ type }) => type === 'prototype-pollution')
    case 'VariableDeclarator':
      return node.init ? findInPattern(node.id, bindings.pathOf(node.init), bindings) : []
    default:
      return []
  }
}

type CallNode = AnyNode & { type: 'CallExpression' | 'NewExpression' }

function findInCall(node: CallNode, bindings: Bindings): Found[] {
  const path = bindings.pathOf(node.callee) ?? grownText(node.callee)
  if (path === undefined) return []
  const [first, second] = node.arguments
  if (path === 'require' || path === 'process.getBuiltinModule')
    return findInImport(first === undefined ? undefined : bindings.textOf(first))
  // `eval` and `Function` are found where they are named, however they are called.
  const called = CALLED.find(({ paths }) => paths.test(path))
  if (called !== undefined) return [{ type: called.type, severity: called.severity, what: `${path}(` }]
  if (/(^|\.)constructor$/.test(path) && !isThis(node.callee))
    return [{ type: 'eval-usage', severity: 'critical', what: 'constructor(' }]
  if (node.callee.type === 'CallExpression') return referenced(path, undefined, node)
  if (/^set(Timeout|Interval)$/.test(path)) return findInTimer(path, first, second, bindings)
  if (path === 'kogu.callTool') return findInToolCall(first, second, bindings)
  if (path === 'RegExp' && first !== undefined) {
    const pattern = bindings.textOf(first)
    if (pattern === undefined || !hasNestedQuantifier(pattern)) return []
    return [{ type: 'unsafe-regex', severity: 'medium', what: `RegExp(${JSON.stringify(pattern)})` }]
  }
  return [...findInObjectCall(path, node, bindings), ...findInAllocation(path, first, bindings)]
}

/** `''.repeat`: of whatever text. */
function grownText(callee: AnyNode): string | undefined {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined
  return /^(repeat|padStart|padEnd)$/.test(callee.property.name) ? callee.property.name : undefined
}

function isThis(callee: AnyNode): boolean {
  return callee.type === 'MemberExpression' && callee.object.type === 'ThisExpression'
}

function findInImport(module: string | undefined): Found[] {
  if (module === undefined)
    return [{ type: 'eval-usage', severity: 'critical', what: 'import of a computed module' }]
  const name = module.replace(/^node:/, '')
  // No module can be reached from an isolate; what it could do only decides the kind.
  const type = MODULES.get(name.replace(/\/promises$/, '')) ?? 'environment-access'
  return [{ type, severity: 'critical', what: `import of ${name}` }]
}

function findInTimer(
  path: string,
  callback: AnyNode | undefined,
  delay: AnyNode | undefined,
  bindings: Bindings,
): Found[] {
  const found: Found[] = []
  if (callback !== undefined && bindings.textOf(callback) !== undefined)
    found.push({ type: 'eval-usage', severity: 'high', what: `${path}(text)` })
  const ms = delay === undefined ? undefined : bindings.numberOf(delay)
  if (ms !== undefined && ms >= 1_000_000)
    found.push({ type: 'resource-exhaustion', severity: 'medium', what: `${path}(…, ${ms})` })
  return found
}

function findInToolCall(name: AnyNode | undefined, input: AnyNode | undefined, bindings: Bindings): Found[] {
  const tool = name === undefined ? undefined : bindings.textOf(name)
  if (tool === undefined)
    return [{ type: 'process-spawn', severity: 'high', what: 'kogu.callTool of a computed tool' }]
  const kind = toolKind(tool)
  if (kind === undefined) return []
  const words: string[] = []
  if (input !== undefined)
    full(input, node => {
      const text = bindings.textOf(node as AnyNode) // acorn-walk's own type is the base of it
      if (text !== undefined) words.push(text)
    })
  const deletes = words.some(word => /(^|[;&|]\s*|\s)(rm\s+-\w*[rf]|rmdir\s)/.test(word))
  return [
    { type: kind.type, severity: kind.severity, what: `kogu.callTool(${tool})` },
    ...(deletes ? [{ type: 'file-system-delete', severity: 'critical', what: 'rm -rf' } as const] : []),
  ]
}

function findInObjectCall(path: string, node: CallNode, bindings: Bindings): Found[] {
  const pollution = (what: string): Found[] => [{ type: 'prototype-pollution', severity: 'high', what }]
  const [target] = node.arguments
  const targetPath = target === undefined ? undefined : bindings.pathOf(target)
  if (path === 'Object.assign') {
    const isSpread = node.arguments.some(argument => argument.type === 'SpreadElement')
    return isSpread || targetPath?.endsWith('.prototype') === true ? pollution('Object.assign(') : []
  }
  if (path === 'Object.setPrototypeOf' || path === 'Reflect.setPrototypeOf') return pollution(`${path}(`)
  if (/^(Object|Reflect)\.defineProper(ty|ties)$/.test(path) && targetPath?.endsWith('.prototype') === true)
    return pollution(`${path}(${targetPath}`)
  return []
}

const LARGE = 100_000_000

function findInAllocation(path: string, size: AnyNode | undefined, bindings: Bindings): Found[] {
  if (
    !/^(ArrayBuffer|Array|Uint8Array|Float64Array|Buffer\.alloc(Unsafe)?|repeat|padStart|padEnd)$/.test(
      path,
    ) ||
    size === undefined
  )
    return []
  const count = bindings.numberOf(size)
  if (count === undefined || count < LARGE) return []
  return [{ type: 'resource-exhaustion', severity: 'medium', what: `${path}(${count})` }]
}

type MemberNode = AnyNode & { type: 'MemberExpression' }

function findInMember(node: MemberNode, parent: AnyNode | undefined, bindings: Bindings): Found[] {
  const key = node.computed
    ? bindings.textOf(node.property)
    : node.property.type === 'Identifier'
      ? node.property.name
      : undefined
  if (key === '__proto__') return [{ type: 'prototype-pollution', severity: 'high', what: '__proto__' }]
  if (key !== undefined && isSensitive(key))
    return [{ type: 'sensitive-data', severity: 'high', what: key, once: true }]
  const path = bindings.pathOf(node)
  if (path !== undefined && /\.constructor\.constructor$/.test(path) && !isCalleeOf(node, parent))
    return [{ type: 'eval-usage', severity: 'critical', what: 'constructor.constructor' }]
  if (key === 'constructor' && isHandedOn(node, parent))
    return [{ type: 'eval-usage', severity: 'high', what: 'constructor as a value' }]
  if (path?.endsWith('.constructor.prototype'))
    return [{ type: 'prototype-pollution', severity: 'high', what: 'constructor.prototype' }]
  const isFunction = /^(ArrowFunction|Function)Expression$/.test(node.object.type)
  const object = bindings.pathOf(node.object)
  const isGlobal = object !== undefined && /^(globalThis|global|window|self)$/.test(object)
  if (node.computed && key === undefined && (isFunction || isGlobal)) {
    const severity = isCalleeOf(node, parent) ? 'critical' : 'high'
    return [{ type: 'eval-usage', severity, what: 'computed access' }]
  }
  // `globalThis['eval']` and `process['env']`: what a plain name would be. The longest path says most.
  const isInner =
    parent?.type === 'MemberExpression' && parent.object === node && bindings.pathOf(parent) !== undefined
  if (!isInner && path !== undefined && (isGlobal || path.startsWith('process.')))
    return referenced(path, parent, node)
  return []
}

/** Where it goes cannot be followed; in comparisons, and as the object of a member, it goes nowhere. */
function isHandedOn(node: AnyNode, parent: AnyNode | undefined): boolean {
  switch (parent?.type) {
    case 'AssignmentExpression':
      return parent.right === node
    case 'ArrowFunctionExpression':
      return parent.body === node
    case 'CallExpression':
    case 'NewExpression':
      return parent.callee !== node
    default:
      return /^(ReturnStatement|YieldExpression|ArrayExpression|SpreadElement)$/.test(parent?.type ?? '')
  }
}

/** Names that are taken out of something: no reference names them. */
function findInPattern(pattern: AnyNode, path: string | undefined, bindings: Bindings): Found[] {
  if (pattern.type === 'AssignmentPattern') return findInPattern(pattern.left, path, bindings)
  if (pattern.type !== 'ObjectPattern') return []
  return pattern.properties.flatMap(property => {
    if (property.type === 'RestElement') return []
    const member = bindings.memberOf(path, property.key, property.computed)
    if (member === undefined) return []
    if (member.endsWith('.constructor.constructor'))
      return [{ type: 'eval-usage', severity: 'critical', what: 'constructor.constructor' } as const]
    return [...referenced(member, undefined, property), ...findInPattern(property.value, member, bindings)]
  })
}

function isCalleeOf(node: AnyNode, parent: AnyNode | undefined): boolean {
  return (parent?.type === 'CallExpression' || parent?.type === 'NewExpression') && parent.callee === node
}

const SENSITIVE = /^(password|passwd|secret|apikey|token|credentials?|privatekey)$/

function findInIdentifier(
  node: AnyNode & { type: 'Identifier' },
  parent: AnyNode | undefined,
  bindings: Bindings,
): Found[] {
  const sensitive: Found[] = isSensitive(node.name)
    ? [{ type: 'sensitive-data', severity: 'high', what: node.name, once: true }]
    : []
  if (isName(node, parent) || bindings.isDeclared(node.name)) return sensitive
  // As the object of a member, the member says more.
  if (parent?.type === 'MemberExpression' && parent.object === node) {
    if (/^(globalThis|global|window|self)$/.test(node.name)) return sensitive
    if (node.name === 'process' && bindings.pathOf(parent) !== undefined) return sensitive
  }
  return [...sensitive, ...referenced(node.name, parent, node), ...findPassed(node, parent)]
}

/** `list.map(fetch)`, `fetch.call(…)`: whoever gets it calls it. An alias is found where it is called. */
function findPassed(node: AnyNode & { type: 'Identifier' }, parent: AnyNode | undefined): Found[] {
  const isPassed =
    parent?.type === 'MemberExpression'
      ? parent.object === node
      : /^(CallExpression|NewExpression|ArrayExpression|SpreadElement|ReturnStatement)$/.test(
          parent?.type ?? '',
        ) && !isCalleeOf(node, parent)
  const rule = CALLED.find(({ type, paths }) => type === 'network-access' && paths.test(node.name))
  return isPassed && rule !== undefined
    ? [{ type: rule.type, severity: rule.severity, what: node.name, once: true }]
    : []
}

function referenced(path: string, parent: AnyNode | undefined, node: AnyNode): Found[] {
  // `x instanceof Function` and `typeof process` look, and do nothing.
  if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof') return []
  if (parent?.type === 'UnaryExpression' && parent.operator === 'typeof') return []
  if (path === 'Function' && parent?.type === 'MemberExpression' && parent.object === node) return []
  const rule = REFERENCED.find(({ paths }) => paths.test(path))
  return rule === undefined ? [] : [{ type: rule.type, severity: rule.severity, what: path }]
}

/** A name that is not a reference: of a property, a label, or what is being declared. */
function isName(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent === undefined) return false
  if (parent.type === 'MemberExpression') return parent.property === node && !parent.computed
  if (
    parent.type === 'Property' ||
    parent.type === 'MethodDefinition' ||
    parent.type === 'PropertyDefinition'
  )
    return parent.key === node && !parent.computed && !('shorthand' in parent && parent.shorthand)
  return (
    parent.type === 'LabeledStatement' ||
    parent.type === 'BreakStatement' ||
    parent.type === 'ContinueStatement'
  )
}

/** By whole words: `apiKey` and `user_password` are, `tokens` and `tokenize` are not. */
function isSensitive(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$-]+/)
  return words.some(
    (word, index) => SENSITIVE.test(word) || SENSITIVE.test(`${word}${words[index + 1] ?? ''}`),
  )
}

function findInProperty(node: AnyNode & { type: 'Property' }, bindings: Bindings): Found[] {
  const { key, computed } = node
  const name = computed
    ? bindings.textOf(key)
    : key.type === 'Identifier'
      ? key.name
      : key.type === 'Literal'
        ? String(key.value)
        : ''
  const found: Found[] = []
  // `{ __proto__: null }` has no prototype at all.
  const isNull = node.value.type === 'Literal' && node.value.value === null && !node.computed
  if (name === '__proto__' && !isNull)
    found.push({ type: 'prototype-pollution', severity: 'high', what: '__proto__' })
  if (name !== undefined && isSensitive(name))
    found.push({ type: 'sensitive-data', severity: 'high', what: name, once: true })
  return found
}

function findInAssignment(node: AnyNode & { type: 'AssignmentExpression' }, bindings: Bindings): Found[] {
  if (node.left.type !== 'MemberExpression') return []
  const object = bindings.pathOf(node.left.object)
  if (bindings.pathOf(node.left) === 'Error.prepareStackTrace')
    return [{ type: 'environment-access', severity: 'medium', what: 'Error.prepareStackTrace' }]
  if (
    object !== undefined &&
    /^[A-Z]\w*\.prototype$/.test(object) &&
    !bindings.isDeclared(object.split('.')[0] ?? '')
  )
    return [{ type: 'prototype-pollution', severity: 'high', what: object }]
  return []
}

type LoopNode = AnyNode & { type: 'WhileStatement' | 'DoWhileStatement' | 'ForStatement' }

/** A loop without an end is high; one that can be left from inside is a note. */
function findInLoop(node: LoopNode): Found[] {
  if (!isAlwaysTrue(node.test)) return []
  const what = node.type === 'ForStatement' ? 'for(;;)' : 'while(true)'
  return [{ type: 'unbounded-operation', severity: canLeave(node.body) ? 'low' : 'high', what }]
}

function isAlwaysTrue(test: AnyNode | null | undefined): boolean {
  if (test === null || test === undefined) return true
  if (test.type === 'Literal') return Boolean(test.value)
  return (
    test.type === 'UnaryExpression' &&
    test.operator === '!' &&
    test.argument.type === 'Literal' &&
    !test.argument.value
  )
}

function canLeave(body: AnyNode): boolean {
  let leaves = false
  const visit = (node: AnyNode, isOwn: boolean): void => {
    if (/Function/.test(node.type)) return
    if (node.type === 'ReturnStatement' || node.type === 'ThrowStatement' || node.type === 'YieldExpression')
      leaves = true
    if (node.type === 'BreakStatement' && (isOwn || node.label)) leaves = true
    const inner = isOwn && !/^(While|DoWhile|For|ForIn|ForOf|Switch)Statement$/.test(node.type)
    for (const child of childrenOf(node)) visit(child, inner)
  }
  visit(body, true)
  return leaves
}

function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter(
      (value): value is AnyNode =>
        typeof value === 'object' && value !== null && 'type' in value && 'start' in value,
    )
}
