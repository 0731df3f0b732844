import type { GivenAnswer } from '../core/approval.ts'
import type { Containment } from '../core/command.ts'
import type { Decision, DecisionRef, Judgement, JudgeRequest, PermissionEngine } from '../core/decision.ts'
import { ToolError } from '../core/errors.ts'
import type { FindSecret } from '../core/known-secrets.ts'
import { isInside } from '../core/real-path.ts'
import { lineage, type Run } from '../core/run.ts'
import { createPermit } from './call-permit.ts'
import { commandLines } from './command-lines.ts'
import type { analyzeCommand } from './commands/analyze.ts'
import type { CommandAnalysis } from './commands/types.ts'
import { CONTAINED, containmentOf } from './contained.ts'
import { type DecideContext, decide, type Judged, riskOf } from './decide.ts'
import {
  covers,
  describeGrant,
  exactGrant,
  type Grant,
  type GrantStore,
  type IdentifiedCall,
  identifyCall,
  inWorkspace,
  placeOf,
  startsOf,
} from './grants.ts'
import type { ScopeContext } from './hard-limits.ts'
import { expandItems, fileItem, type Item, NO_SANDBOX, type NoSandbox, toAccess } from './items.ts'
import { type CommandNetwork, type NetworkSetting, networkOf } from './network/command-network.ts'
import { coversCall, narrowOffer, previewOf, specsOf } from './offers.ts'
import { hidingCandidates } from './paths/hidden-files.ts'
import { isSensitive } from './paths/paths.ts'
import { answerToDecision, toGrants } from './remember.ts'
import type { Fallback } from './rules/defaults.ts'
import type { Rule } from './rules/rules.ts'

export interface EngineOptions {
  /** Real paths. */
  readonly workspace: string
  readonly home: string
  /** Kogu's state folder, which no tool reads. */
  readonly state?: string
  /** Where a mode would ask: ask, or refuse. */
  readonly fallback: Fallback
  readonly rules: readonly Rule[]
  /** Permanent grants, and those of runs that have a name; the others live as long as their run. */
  readonly grants: GrantStore
  /** Null if there is a sandbox. Called when a command line is judged, because finding out takes a moment. */
  readonly noSandbox: () => NoSandbox | null
  /** Whether command lines run contained, asked when one is judged. Defaults to asking about them. */
  readonly containment?: () => Containment
  /** Hosts that approved commands may contact beside those that they name. */
  readonly network: NetworkSetting
  /** Those of them that the person's own settings name: they may be in a private network. Defaults to none. */
  readonly ownHosts?: readonly string[]
  /** How long a permanent grant holds, in milliseconds. */
  readonly rememberMs: number
  readonly now: () => number
  /** Whether a text contains a secret that must not be sent. Defaults to never. */
  readonly findSecret?: FindSecret
  /**
   * Defaults to one that is loaded with the first command line, whose judgement is a promise then. It is the larger half
   * of the program, and most starts judge no command.
   */
  readonly analyzeCommand?: typeof analyzeCommand
}

export function createEngine(options: EngineOptions): PermissionEngine {
  // A WeakMap: session grants end with their run.
  const session = new WeakMap<Run, Grant[]>()
  const lines = commandLines(options)
  const hiding = { rules: options.rules, mayHide: hidingCandidates(options.rules, options) }
  // A server may get other rules while it runs. Then it is another function: what was found with this one is kept.
  const mayHide = (): DecideContext['mayHide'] => {
    if (hiding.rules !== options.rules)
      Object.assign(hiding, { rules: options.rules, mayHide: hidingCandidates(options.rules, options) })
    return hiding.mayHide
  }

  const look = (request: JudgeRequest) => {
    const scope = scopeOf(options, request)
    const now = options.now()
    const rules = options.rules.filter(rule => rule.applies(request, now))
    const ofFiles = rules.filter(rule => rule.decision !== 'allow' && rule.definition.path !== undefined)
    const isClosed = (path: string): boolean => {
      const item = fileItem('file_read', path, scope, true, path)
      return isSensitive(item) || ofFiles.some(rule => rule.matches(item, request))
    }
    const closed = { mayBe: mayHide(), is: isClosed }
    const items = expandItems(request, scope, lines.analyze, options.noSandbox, closed)
    const call = identifyCall(request, items)
    const grants = grantsFor(request, session, options)
    const context: DecideContext = {
      request,
      scope,
      fallback: options.fallback,
      rules,
      grantFor: (item, isRule) => grantFor(item, isRule, grants, call),
      mayHide: mayHide(),
      network: options.network,
      ownHosts: options.ownHosts ?? [],
      findSecret: options.findSecret ?? (() => undefined),
    }
    return { call, grants, context }
  }

  const judge = (request: JudgeRequest): Judgement => {
    const { call, grants, context } = look(request)
    const { items } = call
    const line = items.find(item => item.kind === 'execute')?.analysis
    const refused = deniedByGrant(call, grants)
    const judged = decide(items, context)
    const decided = judged.hard === undefined && refused !== undefined ? refused : judged.decision
    const contained = containmentOf(items, judged, decided, context, options.containment)
    const network = contained.works ? undefined : networkOf(items, context)
    const decision = contained.works
      ? CONTAINED
      : withNotes(decided, [
          ...notesOf(items, network, options),
          ...contained.notes,
          ...variablesOf(decided, request),
        ])
    const asked =
      decision.outcome === 'ask' ? items.filter((_, index) => judged.verdicts[index]?.outcome === 'ask') : []
    return {
      decision,
      mode: request.run.authority.mode,
      cwd: placeOf(request, items),
      hard: judged.hard !== undefined,
      risk: riskOf(items, request, contained.works),
      ...(line && { command: { level: line.level, score: line.score } }),
      access: toAccess(items),
      reasons: reasonsOf(line, judged, decision),
      permit: createPermit(items, context, {
        network: network?.judge,
        contained: contained.works,
        unasked: decision.outcome === 'allow' && !contained.works,
      }),
      ...(asked.length === 0 ? {} : { preview: previewOf(call, asked, context) }),
    }
  }

  const rememberedSpecs = (request: JudgeRequest, judgement: Judgement, answer: GivenAnswer) => {
    const { call, context } = look(request)
    if (!('grant' in answer)) return [exactGrant(call)]
    const offered = judgement.preview?.grants.find(({ id }) => id === answer.grant)
    if (offered === undefined) throw new ToolError('denied', 'The answer names a grant that was not offered.')
    const offer = answer.pattern === undefined ? offered : narrowOffer(offered, answer.pattern, call, context)
    if (answer.scope === 'everywhere' && offer.everywhere !== true)
      throw new ToolError('denied', 'This cannot be remembered for other workspaces.')
    return specsOf(offer)
  }

  return {
    judge(request) {
      if (lines.isLoaded() || request.access.every(({ kind }) => kind !== 'execute')) return judge(request)
      return lines.load().then(() => judge(request))
    },
    async coveredBy(request, offers) {
      if (request.access.some(({ kind }) => kind === 'execute')) await lines.load()
      if (judge(request).decision.outcome !== 'ask') return []
      const { call, context } = look(request)
      return offers.filter(offer => coversCall(specsOf(offer), call, context))
    },
    async narrow(request, offer, pattern) {
      if (request.access.some(({ kind }) => kind === 'execute')) await lines.load()
      const { call, context } = look(request)
      return narrowOffer(offer, pattern, call, context)
    },
    async settle(request, judgement, answer, call) {
      const decision = answerToDecision(judgement, answer)
      // A no for good is remembered when it is given, and not again when the call goes on.
      if (judgement.decision.outcome === 'deny') return decision
      const { workspace, rememberMs, now } = options
      const specs = rememberedSpecs(request, judgement, answer)
      const grants = toGrants(look(request).call, specs, answer, { workspace, rememberMs, now, call })
      for (const grant of grants) {
        if (grant.scope === 'session') session.set(request.run, [...(session.get(request.run) ?? []), grant])
        // A run that has a name goes on in the next process.
        if (grant.scope === 'permanent' || request.run.isNamed === true) await options.grants.add(grant)
      }
      // A grant that does not cover the call it was made from would be asked for again and again.
      if (grants.length > 0 && decision.outcome === 'allow' && judge(request).decision.outcome !== 'allow') {
        throw new ToolError(
          'failed',
          'The answer was saved but does not cover this call. This is a bug in Kogu.',
        )
      }
      return decision
    },
  }
}

function grantFor(
  item: Item,
  isRule: boolean,
  grants: readonly Grant[],
  call: IdentifiedCall,
): ReturnType<DecideContext['grantFor']> {
  const grant = grants.find(
    ({ decision, spec, everywhere, starts }) =>
      decision === 'allow' &&
      !(everywhere === true && isRule) &&
      covers(spec, item, call) &&
      starts === startsOf(spec, call),
  )
  return grant === undefined ? undefined : toRef(grant)
}

function toRef({ id, scope, spec }: Grant): DecisionRef {
  return { id, source: `${scope} grant`, text: describeGrant(spec) }
}

/** Denials carry no notes. */
function withNotes(decision: Decision, notes: readonly string[]): Decision {
  return decision.outcome === 'deny' || notes.length === 0 ? decision : { ...decision, notes }
}

function notesOf(
  items: readonly Item[],
  network: CommandNetwork | undefined,
  { noSandbox }: EngineOptions,
): string[] {
  const command = items.find(item => item.kind === 'execute')
  const missing = command === undefined ? null : noSandbox()
  if (missing === null) return network === undefined ? [] : [network.note]
  const open = items.some(item => item.kind === 'custom' && item.name === NO_SANDBOX)
    ? ` ${WITHOUT_WALLS}`
    : ''
  return [`It runs without a sandbox: ${missing.reason}${open}`]
}

/** No answer is given without having seen them. */
function variablesOf({ outcome }: Decision, { run: { variables } }: JudgeRequest): string[] {
  if (outcome !== 'ask' || variables.size === 0) return []
  const shown = [...variables].map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [`Earlier lines of the run have set ${shown.join(', ')}.`]
}

const WITHOUT_WALLS =
  'It can read, change and contact whatever you can, and what it changes cannot be undone.'

function scopeOf(options: EngineOptions, { run }: JudgeRequest): ScopeContext {
  const { home, workspace, state } = options
  // What lies outside has no layer, no record and no undo.
  const writeScope = run.authority.writeScope.filter(folder => isInside(folder, workspace))
  const own = state === undefined ? {} : { state }
  return { home, workspace, ...own, writeScope, ofAgent: run.authority.agent !== undefined }
}

function grantsFor(
  request: JudgeRequest,
  session: WeakMap<Run, Grant[]>,
  { grants, workspace, now }: EngineOptions,
): readonly Grant[] {
  const { run } = request
  const time = now()
  const isForRun = (grant: Grant): boolean =>
    grant.run === undefined || (run.isNamed === true && grant.run === run.id)
  const permanent = grants
    .list()
    .filter(grant => grant.workspace === workspace || grant.everywhere === true)
    .filter(grant => isForRun(grant) && isForAgent(grant, run))
    .map(grant => inWorkspace(grant, workspace))
  return [...(session.get(run) ?? []), ...permanent].filter(grant => {
    if (grant.decision === 'allow' && isOfAnotherTool(grant, request)) return false
    return grant.expiresAt === undefined || time < Date.parse(grant.expiresAt)
  })
}

/** A yes to an agent is for that agent only. A no holds for those that it starts, too: they could do it in its place. */
function isForAgent({ agent, decision }: Grant, run: Run): boolean {
  if (agent === undefined || agent === run.authority.agent) return true
  return decision === 'deny' && lineage(run).some(each => each.authority.agent === agent)
}

/** The tool has changed since. A grant of files or hosts still covers other tools: it was given for the resource. */
function isOfAnotherTool({ tool }: Grant, request: JudgeRequest): boolean {
  if (tool === undefined) return request.tool.isPartOfKogu !== true
  return tool.name === request.tool.name && tool.fingerprint !== request.fingerprint
}

function deniedByGrant(call: IdentifiedCall, grants: readonly Grant[]): Decision | undefined {
  const denial = grants.find(
    grant => grant.decision === 'deny' && call.items.some(item => covers(grant.spec, item, call)),
  )
  if (denial === undefined) return undefined
  return {
    outcome: 'deny',
    by: 'grant',
    ref: toRef(denial),
    reason: `Refused by the remembered answer ${denial.id}: ${describeGrant(denial.spec)}.`,
  }
}

function reasonsOf(line: CommandAnalysis | undefined, judged: Judged, decision: Decision): string[] {
  const findings = line?.reasons.map(finding => finding.text) ?? []
  const others = judged.verdicts
    .filter(verdict => verdict.outcome === decision.outcome && decision.outcome !== 'allow')
    .map(verdict => verdict.reason)
  return [...new Set([decision.reason, ...others, ...findings, ...(decision.notes ?? [])])]
}
