import { LostRun } from './durable-turn.ts'
import type { RunEvent } from './events.ts'
import type { LoopState } from './loop-state.ts'
import type { Wish } from './run-control.ts'
import type { RunStatus } from './run-record.ts'

export interface Standstill {
  readonly status: Exclude<RunStatus, 'running'>
  readonly stopReason: string
  readonly error?: string
}

/** Undefined when it goes on. */
export function toStandstill(
  { ending, pending, answered }: LoopState,
  wished: Wish | undefined,
): Standstill | undefined {
  if (wished === 'lost') throw new LostRun()
  if (wished === 'stop') return STOPPED
  if (ending !== null) {
    const { stopReason, error } = ending
    return {
      status: error === undefined ? 'completed' : 'failed',
      stopReason,
      ...(error === undefined ? {} : { error }),
    }
  }
  if (wished === 'stop_after_step') return STOPPED
  if (wished === 'pause') return { status: 'pending', stopReason: 'paused' }
  // A turn that ends with calls still open waits for a person's answer.
  const waits = pending.length > answered.length
  return waits ? { status: 'pending', stopReason: 'awaiting_approval' } : undefined
}

export function toEvent({ status, stopReason, error }: Standstill): RunEvent {
  if (status === 'pending') return { type: 'run.paused', reason: stopReason }
  return { type: 'run.finished', status, stopReason, ...(error === undefined ? {} : { error }) }
}

const STOPPED: Standstill = { status: 'cancelled', stopReason: 'cancelled', error: 'It was stopped.' }
