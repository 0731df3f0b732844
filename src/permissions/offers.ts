import { hash } from 'node:crypto'
import type { CommandPattern, GrantOffer } from '../core/decision.ts'
import { ToolError } from '../core/errors.ts'
import { isInside } from '../core/real-path.ts'
import { narrowCommand, patternWords } from './command-grants.ts'
import { type StartedFiles, startedFiles } from './commands/started-files.ts'
import { type DecideContext, decide } from './decide.ts'
import {
  canHoldEverywhere,
  covers,
  describeGrant,
  type GrantSpec,
  type IdentifiedCall,
  offerGrants,
} from './grants.ts'
import type { ScopeContext } from './hard-limits.ts'
import { GIT_PUSH, type Item } from './items.ts'

/** What a person sees of a call before saying yes, with what can be remembered of it. */
export function previewOf(call: IdentifiedCall, asked: readonly Item[], context: DecideContext) {
  const { items } = call
  const effects = items.flatMap(item => (item.kind === 'execute' ? item.analysis.effects : []))
  const command = items.find(item => item.kind === 'execute')
  const started = command === undefined ? undefined : startedFiles(command.analysis)
  const offers = canBeBound(started, context.scope) ? offerGrants(asked, call, context.scope.workspace) : []
  return {
    effects,
    dangerous: command?.analysis.level === 'dangerous' || items.some(isPush),
    ...(started === undefined ? {} : { starts: [...started.orders, ...started.named] }),
    ...(command === undefined ? {} : { details: command.command }),
    grants: offers
      .filter(specs => coversCall(specs, call, context))
      .map(specs => toOffer(specs, call, context)),
  }
}

/** Files of the run's own /tmp are not on this disk, and those of unknown words may be any. */
function canBeBound(started: StartedFiles | undefined, { workspace }: ScopeContext): boolean {
  const isScratch = (path: string): boolean => /^\/(?:var\/)?tmp\//.test(path) && !isInside(path, workspace)
  return started === undefined || !(started.isOpen || started.named.some(isScratch))
}

const isPush = (item: Item): boolean => item.kind === 'custom' && item.name === GIT_PUSH

/** An offer is only made when it would really be enough; the same engine answers. */
export function coversCall(
  specs: readonly GrantSpec[],
  call: IdentifiedCall,
  context: DecideContext,
  everywhere = false,
): boolean {
  const trial: DecideContext = {
    ...context,
    grantFor: (item, isRule) =>
      !(everywhere && isRule) && specs.some(spec => covers(spec, item, call))
        ? { id: 'offer', source: 'offer', text: '' }
        : context.grantFor(item, isRule),
  }
  return decide(call.items, trial).decision.outcome === 'allow'
}

/** The offer with a person's choice of words; refused where that would be wider, or would not cover the call itself. */
export function narrowOffer(
  offer: GrantOffer,
  pattern: CommandPattern,
  call: IdentifiedCall,
  context: DecideContext,
): GrantOffer {
  const specs = specsOf(offer)
  if (!specs.some(({ kind }) => kind === 'command'))
    throw new ToolError('invalid_input', 'This can only be remembered exactly as it stands.')
  const narrowed = specs.map(spec => (spec.kind === 'command' ? narrowCommand(spec, pattern) : spec))
  if (!coversCall(narrowed, call, context))
    throw new ToolError('invalid_input', 'These words do not match the call that is asked about.', {
      hint: 'Leave the words of the call as they are, or let them be any word.',
    })
  return toOffer(narrowed, call, context)
}

/** Only this engine makes offers, and it makes them of grant specs. */
export function specsOf({ specs }: GrantOffer): readonly GrantSpec[] {
  return specs as readonly GrantSpec[]
}

function toOffer(specs: readonly GrantSpec[], call: IdentifiedCall, context: DecideContext): GrantOffer {
  const command = call.items.find(item => item.kind === 'execute')
  return {
    id: offerId(specs),
    label: specs.map(spec => describeGrant(spec, context.scope.workspace)).join('; '),
    ...(command === undefined ? {} : { pattern: patternWords(command) }),
    ...(canHoldEverywhere(specs, call) && coversCall(specs, call, context, true) ? { everywhere: true } : {}),
    specs,
  }
}

function offerId(specs: readonly GrantSpec[]): string {
  return hash('sha256', JSON.stringify(specs)).slice(0, 12)
}
