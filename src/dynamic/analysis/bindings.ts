import type { AnyNode, Program } from 'acorn'
import { full } from 'acorn-walk'

/**
 * What names and expressions stand for, as far as the code itself says it. A path is a chain of names that begins with
 * a global one: `fetch`, `child_process.exec` (of `require('child_process').exec`), `Object.prototype`.
 */
export interface Bindings {
  /** Undefined when it is not a global, or not to be told. */
  pathOf(node: AnyNode): string | undefined
  /** The text that an expression has at every run. */
  textOf(node: AnyNode): string | undefined
  numberOf(node: AnyNode): number | undefined
  isDeclared(name: string): boolean
  /** What a name stands for that is taken out of an expression: `const { eval: e } = globalThis`. */
  memberOf(object: string | undefined, property: AnyNode, computed: boolean): string | undefined
}

/** What a declared name stands for: an expression, or a member of one. */
interface Binding {
  readonly node: AnyNode
  readonly member?: string
}

const GLOBALS = new Set(['globalThis', 'global', 'window', 'self'])
/** Chains of aliases end somewhere. */
const MOST_STEPS = 40

export function readBindings(program: Program): Bindings {
  const { once, declared } = collect(program)

  const pathOf = (node: AnyNode, steps = 0): string | undefined => {
    if (steps > MOST_STEPS) return undefined
    switch (node.type) {
      case 'Identifier': {
        const binding = once.get(node.name)
        if (binding !== undefined) return member(pathOf(binding.node, steps + 1), binding.member)
        return declared.has(node.name) ? undefined : node.name
      }
      case 'MemberExpression': {
        const name = keyOf(node.property, node.computed, steps)
        if (node.object.type === 'ArrayExpression' || node.object.type === 'ObjectExpression') {
          const held = heldBy(node.object, name)
          return held === undefined ? undefined : pathOf(held, steps + 1)
        }
        const object = pathOf(node.object, steps + 1)
        if (name === undefined) return undefined
        return member(object, name)
      }
      case 'ChainExpression':
      case 'ParenthesizedExpression':
      case 'AwaitExpression':
        return pathOf(node.type === 'AwaitExpression' ? node.argument : node.expression, steps + 1)
      case 'SequenceExpression': {
        const last = node.expressions.at(-1)
        return last === undefined ? undefined : pathOf(last, steps + 1)
      }
      case 'AssignmentExpression':
        return pathOf(node.right, steps + 1)
      case 'LogicalExpression':
        return pathOf(node.left, steps + 1) ?? pathOf(node.right, steps + 1)
      case 'ConditionalExpression':
        return pathOf(node.consequent, steps + 1) ?? pathOf(node.alternate, steps + 1)
      case 'ImportExpression': {
        const module = textOf(node.source, steps)
        return module === undefined ? undefined : moduleName(module)
      }
      case 'CallExpression':
        return calledPath(node, steps)
      default:
        return undefined
    }
  }

  const calledPath = (node: AnyNode & { type: 'CallExpression' }, steps: number): string | undefined => {
    const callee = pathOf(node.callee, steps + 1)
    const [first, second] = node.arguments
    const text = first === undefined ? undefined : textOf(first, steps + 1)
    if ((callee === 'require' || callee === 'process.getBuiltinModule') && text !== undefined)
      return moduleName(text)
    if (callee === 'Reflect.get' && first !== undefined && second !== undefined) {
      const key = textOf(second, steps + 1)
      return key === undefined ? undefined : member(pathOf(first, steps + 1), key)
    }
    // `eval.bind(null)` is `eval`.
    return callee?.endsWith('.bind') ? callee.slice(0, -'.bind'.length) : undefined
  }

  const keyOf = (property: AnyNode, computed: boolean, steps: number): string | undefined => {
    if (!computed) return property.type === 'Identifier' ? property.name : undefined
    return textOf(property, steps + 1)
  }

  const textOf = (node: AnyNode, steps = 0): string | undefined => {
    if (steps > MOST_STEPS) return undefined
    const again = (inner: AnyNode): string | undefined => textOf(inner, steps + 1)
    switch (node.type) {
      case 'Literal':
        return typeof node.value === 'string' || typeof node.value === 'number'
          ? String(node.value)
          : undefined
      case 'TemplateLiteral': {
        const parts = node.quasis.map(({ value }, index) => {
          const inner = node.expressions[index]
          const text = inner === undefined ? '' : again(inner)
          return text === undefined ? undefined : `${value.cooked ?? ''}${text}`
        })
        return parts.includes(undefined) ? undefined : parts.join('')
      }
      case 'BinaryExpression': {
        if (node.operator !== '+' || node.left.type === 'PrivateIdentifier') return undefined
        const [left, right] = [again(node.left), again(node.right)]
        return left === undefined || right === undefined ? undefined : left + right
      }
      case 'Identifier': {
        const binding = once.get(node.name)
        return binding === undefined || binding.member !== undefined ? undefined : again(binding.node)
      }
      case 'CallExpression':
        return calledText(node, steps)
      default:
        return undefined
    }
  }

  /** The few calls that are used to hide a word. */
  const calledText = (node: AnyNode & { type: 'CallExpression' }, steps: number): string | undefined => {
    const values = node.arguments.map(argument => textOf(argument, steps + 1))
    const path = pathOf(node.callee, steps + 1)
    if (path === 'String.fromCharCode' && !values.includes(undefined))
      return String.fromCharCode(...values.map(Number))
    if (path === 'atob' && values[0] !== undefined) return Buffer.from(values[0], 'base64').toString('latin1')
    const { callee } = node
    if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || callee.computed)
      return undefined
    const { object } = callee
    const method = callee.property.name
    if (method === 'join') {
      const items = listOf(object, steps + 1)
      return items?.join(values[0] ?? (node.arguments.length === 0 ? ',' : ''))
    }
    const text = textOf(object, steps + 1)
    if (text === undefined) return undefined
    if (method === 'toLowerCase') return text.toLowerCase()
    if (method === 'toString' || method === 'trim') return text
    if (method === 'concat') return values.includes(undefined) ? undefined : text + values.join('')
    if (method === 'slice')
      return text.slice(Number(values[0] ?? 0), values[1] === undefined ? undefined : Number(values[1]))
    if (method === 'replace' && values[0] !== undefined && values[1] !== undefined)
      return text.replace(values[0], () => values[1] ?? '')
    return undefined
  }

  const listOf = (node: AnyNode, steps: number): string[] | undefined => {
    if (steps > MOST_STEPS) return undefined
    if (node.type === 'ArrayExpression') {
      const items = node.elements.map(element => (element === null ? undefined : textOf(element, steps + 1)))
      return items.some(item => item === undefined) ? undefined : items.map(item => item ?? '')
    }
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined
    const { property, object } = node.callee
    if (property.type !== 'Identifier') return undefined
    if (property.name === 'reverse') return listOf(object, steps + 1)?.reverse()
    const [separator] = node.arguments
    const text = textOf(object, steps + 1)
    if (property.name !== 'split' || text === undefined || separator === undefined) return undefined
    const by = textOf(separator, steps + 1)
    return by === undefined ? undefined : text.split(by)
  }

  const numberOf = (node: AnyNode): number | undefined => {
    if (node.type === 'Literal' && typeof node.value === 'number') return node.value
    if (node.type === 'Identifier') {
      if (node.name === 'Infinity') return Number.POSITIVE_INFINITY
      const binding = once.get(node.name)
      return binding === undefined || binding.member !== undefined ? undefined : numberOf(binding.node)
    }
    if (node.type !== 'BinaryExpression' || node.left.type === 'PrivateIdentifier') return undefined
    const [left, right] = [numberOf(node.left), numberOf(node.right)]
    if (left === undefined || right === undefined) return undefined
    const results: Readonly<Record<string, number>> = {
      '*': left * right,
      '+': left + right,
      '**': left ** right,
      '<<': left << right,
    }
    return results[node.operator]
  }

  return {
    pathOf: node => pathOf(node),
    textOf: node => textOf(node),
    numberOf,
    isDeclared: name => declared.has(name),
    memberOf(object, property, computed) {
      const name = keyOf(property, computed, 0)
      return name === undefined ? undefined : member(object, name)
    },
  }
}

function member(object: string | undefined, name: string | undefined): string | undefined {
  if (name === undefined) return object
  // Of whatever it is, the constructor of its constructor makes code.
  if (object === undefined) return name === 'constructor' ? '?.constructor' : undefined
  return GLOBALS.has(object) ? name : `${object}.${name}`
}

function moduleName(text: string): string {
  return text.replace(/^node:/, '').replace(/^fs\/promises$/, 'fs')
}

/** `[eval][0]` and `({ e: eval }).e` hide nothing. */
function heldBy(node: AnyNode, name: string | undefined): AnyNode | undefined {
  if (name === undefined) return undefined
  if (node.type === 'ArrayExpression') return node.elements[Number(name)] ?? undefined
  if (node.type !== 'ObjectExpression') return undefined
  for (const property of node.properties) {
    if (property.type !== 'Property' || property.computed) continue
    const { key } = property
    const own = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined
    if (own === name) return property.value
  }
  return undefined
}

/** Names that are declared, and what those that are declared and set exactly once stand for. */
function collect(program: Program): { once: Map<string, Binding>; declared: Set<string> } {
  const bound = new Map<string, Binding | null>()
  const declared = new Set<string>()
  const declare = (name: string, binding: Binding | null): void => {
    bound.set(name, declared.has(name) ? null : binding)
    declared.add(name)
  }
  full(program, node => {
    const each = node as AnyNode // acorn-walk's own type is the base of it
    if (each.type === 'VariableDeclarator') declarePattern(each.id, each.init ?? null, declare)
    else if (each.type === 'ImportDeclaration') declareImports(each, declare)
    else if ('params' in each) {
      for (const pattern of each.params) declarePattern(pattern, null, declare)
      if (each.type !== 'ArrowFunctionExpression' && each.id) declare(each.id.name, null)
    } else if ((each.type === 'ClassDeclaration' || each.type === 'ClassExpression') && each.id)
      declare(each.id.name, null)
    else if (each.type === 'CatchClause' && each.param) declarePattern(each.param, null, declare)
    else if (each.type === 'AssignmentExpression' && each.left.type === 'Identifier' && each.operator === '=')
      reassign(each.left.name, each.right, bound, declared)
  })
  const once = new Map([...bound].filter((entry): entry is [string, Binding] => entry[1] !== null))
  return { once, declared }
}

/** `let e; e = eval` is one binding; a second value makes it unknown. */
function reassign(
  name: string,
  node: AnyNode,
  bound: Map<string, Binding | null>,
  declared: Set<string>,
): void {
  if (!declared.has(name)) return
  const held = bound.get(name)
  bound.set(name, held === null || held === undefined ? { node } : null)
}

type Declare = (name: string, binding: Binding | null) => void

function declarePattern(pattern: AnyNode, init: AnyNode | null, declare: Declare): void {
  switch (pattern.type) {
    case 'Identifier':
      declare(pattern.name, init === null ? null : { node: init })
      return
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') declarePattern(property.argument, null, declare)
        else if (
          property.value.type === 'Identifier' &&
          property.key.type === 'Identifier' &&
          !property.computed
        )
          declare(property.value.name, init === null ? null : { node: init, member: property.key.name })
        else declarePattern(property.value, null, declare)
      }
      return
    case 'ArrayPattern':
      pattern.elements.forEach((element, index) => {
        if (element === null) return
        const held = init?.type === 'ArrayExpression' ? (init.elements[index] ?? null) : null
        declarePattern(element, held, declare)
      })
      return
    case 'AssignmentPattern':
      declarePattern(pattern.left, init ?? pattern.right, declare)
      return
    case 'RestElement':
      declarePattern(pattern.argument, null, declare)
  }
}

function declareImports(node: AnyNode & { type: 'ImportDeclaration' }, declare: Declare): void {
  for (const specifier of node.specifiers) {
    const imported = specifier.type === 'ImportSpecifier' ? specifier.imported : undefined
    const name = imported?.type === 'Identifier' ? imported.name : undefined
    const module: AnyNode = {
      ...node.source,
      type: 'ImportExpression',
      source: node.source,
      options: null,
    } as AnyNode // `import x from 'm'` is `import('m')`
    declare(specifier.local.name, name === undefined ? { node: module } : { node: module, member: name })
  }
}
