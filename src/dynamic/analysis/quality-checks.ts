import { type AnyNode, tokenizer } from 'acorn'
import { full, fullAncestor } from 'acorn-walk'
import { type Bindings, readBindings } from './bindings.ts'
import type { Category } from './kinds.ts'
import type { ParsedCode } from './parse-code.ts'

export interface QualityFinding {
  readonly category: Category
  /** `good` adds to the score. */
  readonly severity: 'high' | 'medium' | 'low' | 'good'
  readonly rule: string
  readonly line: number
}

export interface QualityFindings {
  readonly findings: readonly QualityFinding[]
  readonly functions: number
  /** Functions with a JSDoc comment above them. */
  readonly documented: number
}

const LONG_LINE = 120
const LONG_FUNCTION = 50
const VERY_LONG_FUNCTION = 100
const LONG_BODY = 500

export function findQuality(code: ParsedCode): QualityFindings {
  const findings: QualityFinding[] = [...findInText(code), ...findInComments(code)]
  const bindings = readBindings(code.program)
  const functions: AnyNode[] = []
  fullAncestor(code.program, (node, _state, ancestors) => {
    const each = node as AnyNode // acorn-walk's own type is the base of it
    const parent = ancestors.at(-2) as AnyNode | undefined // as above
    if (isNamedFunction(each, parent)) functions.push(each)
    findings.push(...findInNode(each, bindings))
  })
  const documented = functions.filter(node => isDocumented(node, code)).length
  return { findings: findings.sort((a, b) => a.line - b.line), functions: functions.length, documented }
}

function findInText({ javascript }: ParsedCode): QualityFinding[] {
  const long = javascript
    .split('\n')
    .flatMap((text, index): QualityFinding[] =>
      text.trimEnd().length > LONG_LINE
        ? [{ category: 'readability', severity: 'low', rule: 'long-line', line: index + 1 }]
        : [],
    )
  const tight: QualityFinding[] = []
  for (const token of tokenizer(javascript, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
  })) {
    if (token.type.label === ',' && /\S/.test(javascript[token.end] ?? ' '))
      tight.push({
        category: 'readability',
        severity: 'low',
        rule: 'tight-comma',
        line: token.loc?.start.line ?? 1,
      })
  }
  return [...long, ...tight]
}

function findInComments({ comments }: ParsedCode): QualityFinding[] {
  const found: QualityFinding[] = []
  const good = (category: Category, rule: string, line: number): void => {
    found.push({ category, severity: 'good', rule, line })
  }
  for (const { type, value, loc } of comments) {
    const line = loc?.start.line ?? 1
    good('readability', 'comments', line)
    if (type !== 'Block' || !value.startsWith('*')) continue
    good('documentation', 'jsdoc', line)
    for (const tag of ['param', 'returns', 'throws'])
      if (value.includes(`@${tag}`)) good('documentation', `jsdoc-${tag}`, line)
  }
  return found
}

function findInNode(node: AnyNode, bindings: Bindings): QualityFinding[] {
  const line = node.loc?.start.line ?? 1
  const found = (
    category: Category,
    severity: QualityFinding['severity'],
    rule: string,
  ): QualityFinding[] => [{ category, severity, rule, line }]
  switch (node.type) {
    case 'VariableDeclaration':
      if (node.kind === 'var') return found('readability', 'medium', 'var')
      return node.kind === 'const' ? found('readability', 'good', 'const') : []
    case 'BinaryExpression': {
      const isNull = node.right.type === 'Literal' && node.right.value === null
      return /^[!=]=$/.test(node.operator) && !isNull ? found('readability', 'medium', 'loose-equality') : []
    }
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [...findInFunction(node, line), ...findInAwaits(node, line)]
    case 'TryStatement':
      return findInTry(node, line)
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
      return found('testability', 'good', 'export')
    case 'CallExpression':
    case 'NewExpression':
      return findInCall(node, bindings, line)
    case 'AssignmentExpression':
      return node.left.type === 'MemberExpression' &&
        node.left.property.type === 'Identifier' &&
        /^(inner|outer)HTML$/.test(node.left.property.name)
        ? found('securityAwareness', 'medium', 'inner-html')
        : []
    case 'VariableDeclarator':
      return node.id.type === 'Identifier' && isHardCoded(node.id.name, node.init)
        ? found('securityAwareness', 'high', 'hard-coded-secret')
        : []
    case 'Property': {
      const name =
        node.key.type === 'Identifier'
          ? node.key.name
          : node.key.type === 'Literal'
            ? String(node.key.value)
            : ''
      return isHardCoded(name, node.value) ? found('securityAwareness', 'high', 'hard-coded-secret') : []
    }
    default:
      return []
  }
}

function isHardCoded(name: string, value: AnyNode | null | undefined): boolean {
  const isSecret = /(passw(or)?d|secret|api_?key|(^|_)token$|Token$|private_?key)/i.test(name)
  return isSecret && value?.type === 'Literal' && typeof value.value === 'string' && value.value !== ''
}

type FunctionNode = AnyNode & {
  type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression'
}

function findInFunction(node: FunctionNode, line: number): QualityFinding[] {
  const lines = (node.loc?.end.line ?? line) - line + 1
  if (lines <= LONG_FUNCTION) return []
  const severity = lines > VERY_LONG_FUNCTION ? 'high' : 'medium'
  return [{ category: 'readability', severity, rule: 'long-function', line }]
}

/** Three awaits in a row that could be one Promise.all: none of them uses what an earlier one gave. */
function findInAwaits(node: FunctionNode, line: number): QualityFinding[] {
  if (node.body.type !== 'BlockStatement') return []
  let inRow = 0
  let given: string[] = []
  for (const statement of node.body.body) {
    const awaited = awaitIn(statement)
    const uses = awaited !== undefined && namesIn(awaited).some(name => given.includes(name))
    inRow = awaited === undefined ? 0 : uses ? 1 : inRow + 1
    given = awaited === undefined ? [] : [...given, ...declaredIn(statement)]
    if (inRow === 3) return [{ category: 'performance', severity: 'medium', rule: 'sequential-awaits', line }]
  }
  return []
}

function awaitIn(statement: AnyNode): AnyNode | undefined {
  const expression =
    statement.type === 'ExpressionStatement'
      ? statement.expression
      : statement.type === 'VariableDeclaration'
        ? statement.declarations[0]?.init
        : undefined
  return expression?.type === 'AwaitExpression' ? expression.argument : undefined
}

function declaredIn(statement: AnyNode): string[] {
  return statement.type === 'VariableDeclaration'
    ? statement.declarations.flatMap(({ id }) => namesIn(id))
    : []
}

function namesIn(node: AnyNode): string[] {
  const names: string[] = []
  full(node, each => {
    const inner = each as AnyNode // acorn-walk's own type is the base of it
    if (inner.type === 'Identifier') names.push(inner.name)
  })
  return names
}

function findInTry(node: AnyNode & { type: 'TryStatement' }, line: number): QualityFinding[] {
  const found: QualityFinding[] = []
  const add = (severity: QualityFinding['severity'], rule: string): void => {
    found.push({ category: 'errorHandling', severity, rule, line })
  }
  if (node.handler) add('good', 'try-catch')
  else add('medium', 'try-without-catch')
  if (node.handler?.body.body.length === 0) add('high', 'empty-catch')
  if (node.finalizer) add('good', 'finally')
  return found
}

function findInCall(
  node: AnyNode & { type: 'CallExpression' | 'NewExpression' },
  bindings: Bindings,
  line: number,
): QualityFinding[] {
  const path = bindings.pathOf(node.callee) ?? ''
  const [first] = node.arguments
  const found = (
    category: Category,
    severity: QualityFinding['severity'],
    rule: string,
  ): QualityFinding[] => [{ category, severity, rule, line }]
  if (path === 'Math.random' || path === 'Date.now')
    return found('testability', 'medium', 'not-deterministic')
  if (path === 'Date' && node.arguments.length === 0) return found('testability', 'low', 'current-date')
  if (path === 'Promise.all' || path === 'Promise.allSettled')
    return found('performance', 'good', 'promise-all')
  if (path === 'console.error' || path === 'console.warn')
    return found('errorHandling', 'good', 'logged-errors')
  if (/^(\w*Error)$/.test(path) && (first === undefined || bindings.textOf(first) === ''))
    return found('errorHandling', 'medium', 'empty-error')
  const isCopy =
    path === 'JSON.parse' &&
    first?.type === 'CallExpression' &&
    bindings.pathOf(first.callee) === 'JSON.stringify'
  if (isCopy) return found('performance', 'medium', 'json-copy')
  const name = nameOf(node.callee)
  if (name === 'forEach' && first !== undefined && first.end - first.start > LONG_BODY)
    return found('performance', 'low', 'long-for-each')
  return /sanitize|escape|encode/i.test(name) ? found('securityAwareness', 'good', 'escapes') : []
}

function nameOf(callee: AnyNode): string {
  if (callee.type === 'Identifier') return callee.name
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
    ? callee.property.name
    : ''
}

/** Functions a reader would want documented: not the small ones that are passed on the spot. */
function isNamedFunction(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (node.type === 'FunctionDeclaration') return true
  if (node.type !== 'FunctionExpression' && node.type !== 'ArrowFunctionExpression') return false
  return (
    parent?.type === 'VariableDeclarator' ||
    parent?.type === 'MethodDefinition' ||
    parent?.type === 'ExportDefaultDeclaration'
  )
}

function isDocumented(node: AnyNode, { comments, javascript }: ParsedCode): boolean {
  return comments.some(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      end <= node.start &&
      // Only words of its own declaration stand between.
      /^\s*((export|default|const|let|async|static|[\w$]+\s*=)\s*)*$/.test(javascript.slice(end, node.start)),
  )
}
