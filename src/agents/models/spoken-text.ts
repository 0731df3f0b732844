/**
 * Hands a model's words on as soon as they are whole. A key or a token that comes in two pieces would otherwise pass every
 * look for secrets; nothing else is held back, so that text without spaces flows as well.
 */
export function createSpokenText(onText: (text: string) => void): { say(delta: string): void; end(): void } {
  let held = ''
  const hand = (length: number): void => {
    if (length > 0) onText(held.slice(0, length))
    held = held.slice(length)
  }
  return {
    say(delta) {
      held += delta
      const open = openWord(held)
      hand(open === LONGEST ? held.length : held.length - open)
    },
    end: () => hand(held.length),
  }
}

const LONGEST = 4096
/** What keys and tokens are made of. */
const OF_WORD = /[\w+/=.~%:-]/

/** How many characters at the end may be the beginning of a longer word. */
function openWord(text: string): number {
  let length = 0
  while (length < LONGEST && OF_WORD.test(text.at(-1 - length) ?? ' ')) length += 1
  return length
}
