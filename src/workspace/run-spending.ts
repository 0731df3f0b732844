import { randomBytes } from 'node:crypto'
import type { KeptSpending, Spent } from '../core/run.ts'
import { openAppended } from './appended-lines.ts'

/**
 * What one run has used up, a line for each call and each payment, only ever appended: processes of the same run add
 * theirs side by side, and none forgets what another has counted. `known` is what the saved run says; when the file
 * holds less, somebody took it away, and the difference still counts.
 */
export function openRunSpending(
  path: string,
  known: Spent = { calls: 0, money: 0 },
): KeptSpending & { refresh(spent: Spent): void } {
  const file = openAppended(path)
  // Tells the calls of this process from those of others.
  const mine = randomBytes(6).toString('hex')
  const counted: Spent = { calls: 0, money: 0 }
  let myLast = 0

  const read = (): void => {
    for (const line of file.readNew()) {
      const [kind, value = ''] = line.split(' ')
      if (kind === 'money') counted.money += toAmount(value)
      // Also a line that a crash cut off: something was used up.
      else counted.calls += 1
      if (value === mine) myLast = counted.calls
    }
  }
  read()
  const missing = {
    calls: Math.max(0, known.calls - counted.calls),
    money: Math.max(0, known.money - counted.money),
  }
  const refresh = (spent: Spent): void => {
    read()
    spent.calls = counted.calls + missing.calls
    spent.money = counted.money + missing.money
  }

  return {
    refresh,
    addCall(spent) {
      file.append(`call ${mine}`)
      refresh(spent)
      return myLast + missing.calls
    },
    addMoney(spent, amount) {
      file.append(`money ${amount}`)
      refresh(spent)
    },
  }
}

function toAmount(text: string): number {
  const amount = Number(text)
  return Number.isFinite(amount) ? amount : 0
}
