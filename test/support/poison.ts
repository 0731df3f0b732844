import type { Page } from 'playwright-core'

// What others could have written, put into every text that a page loads, and the look whether it did anything.

/** Markup, text that runs backwards, colours of a terminal, what cannot be seen, half a character, a line without an end. */
const POISON = [
  '<img src=x onerror="alert(1)"><script>alert(2)</script><svg onload="alert(3)"><a href="javascript:alert(4)">',
  '![i](http://127.0.0.1:9/i.png) [l](javascript:alert(5)) \u202Eesrever\u2066 \u200B\u00AD\u{E0041}\u2028',
  '\u001B[31mred\u001B[2K\u0000\u0007\u009B \r \uD800 \uDC00 %{{}}$& __proto__',
  'w'.repeat(3_000),
].join('\n')

/** What the program itself chose from a list of its own, and what things are found by. */
const OWN =
  /^(id|.*_id|.*Id|status|state|kind|type|mode|verdict|outcome|risk|answer|decision|effects?|category|hash|digest|execution|runPath|scope|level|next|role|at|by|trust|orchestration|git|show|gate|profile|stop_?reason|stopReason|provider|origin|layer|overall|day|call|run|record|segment|prev|from|to|why|prices_of|price_source|required)$/
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** From now on every answer of the server has it in every text. */
export async function poison(page: Page): Promise<void> {
  await page.route(/\/api\/(?!auth\/|events)/, async route => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch({ maxRetries: 3 })
    const isJson = response.headers()['content-type']?.includes('json') === true
    await route.fulfill({ response, ...(isJson ? { json: poisoned(await response.json()) } : {}) })
  })
}

function poisoned(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return OWN.test(key) || TIME.test(value) ? value : value + POISON
  if (Array.isArray(value)) return value.map(each => poisoned(each, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poisoned(each, name)]))
}

/** Markup that came alive, characters that should have been made visible, a sideways scroll, a screen that broke. */
export function findHarm(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(HARM)
}

const HARM = `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => {
  const found = []
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth
  if (over > 0) found.push('scrolls sideways by ' + over)
  const raw = /[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]|\\p{Surrogate}|[\\u{e0000}-\\u{e007f}]/u
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const seen = (text, element) => {
    if (element.tagName !== 'TEXTAREA' && raw.test(text)) found.push('raw text: ' + element.outerHTML.replace(/ (class|style)="[^"]*"/g, '').slice(0, 130))
  }
  while (walker.nextNode()) seen(walker.currentNode.data, walker.currentNode.parentElement)
  for (const element of document.querySelectorAll('[title], [aria-label], [alt], [placeholder]'))
    for (const name of ['title', 'aria-label', 'alt', 'placeholder']) seen(element.getAttribute(name) ?? '', element)
  for (const element of document.querySelectorAll('main img:not(.cm-widgetBuffer:not([src])), script:not([src]), a[href^="javascript:" i], [onerror], [onload]'))
    found.push('markup: ' + element.outerHTML.slice(0, 200))
  if (document.querySelector('main h1') === null) found.push('no screen')
  return found.slice(0, 4)
})`
