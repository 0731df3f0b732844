import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

// Looks at a page with axe, light and dark, wide and on a phone. One page for all screens: loading the program and axe
// anew for each would take longer than looking.

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const WIDE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
/** Everything once at each width; what else could differ between the schemes is contrast. */
const FULL = { type: 'tag', values: TAGS }
const CONTRAST = { type: 'rule', values: ['color-contrast'] }
const FORMS = [
  { size: WIDE, schemes: { light: FULL, dark: CONTRAST } },
  { size: PHONE, schemes: { dark: FULL, light: CONTRAST } },
] as const

/** Nothing is loaded anew for rules that are not asked for, and no selector is made for each of a thousand elements. */
const LEAN = { resultTypes: ['violations'], preload: false, iframes: false, selectors: false }

/**
 * What is wrong with the page as it stands, in each form, and what is cut off at the narrowest width. `within` is a
 * selector, for when the rest has been looked at already, at that width too.
 */
export async function findFaults(page: Page, where: string, within = ':root'): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(source)
  const found: string[] = []
  for (const { size, schemes } of FORMS) {
    await page.setViewportSize(size)
    const faults = await page.evaluate<string[]>(
      `(${LOOK})(${[within, schemes, LEAN].map(each => JSON.stringify(each)).join(', ')})`,
    )
    found.push(...faults.map(fault => `${where} ${size.width} ${fault}`))
  }
  if (within !== ':root') return found
  await page.setViewportSize({ width: 360, height: 740 })
  found.push(...(await findCut(page)).map(fault => `${where} 360: ${fault}`))
  await page.setViewportSize(WIDE)
  return found
}

/** The scheme is changed in place, and only what is wrong comes over: all that was looked at is a megabyte. */
const LOOK = `async (within, schemes, options) => {
  const root = document.documentElement
  const before = root.dataset.mantineColorScheme
  const found = []
  for (const [scheme, runOnly] of Object.entries(schemes)) {
    root.dataset.mantineColorScheme = scheme
    const { violations } = await axe.run(within, { runOnly, ...options })
    for (const { id, nodes } of violations)
      found.push([scheme + ' ' + id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))].join(' | '))
  }
  root.dataset.mantineColorScheme = before
  return found
}`

/** What scrolls the page sideways, sticks out of it where nobody can scroll to, or is cut off in a button. */
export async function findCut(page: Page): Promise<string[]> {
  // A change of size takes a frame or two to arrive everywhere; what is wrong stays wrong.
  const until = Date.now() + 10_000
  for (;;) {
    const found = await page.evaluate<string[]>(CUT)
    if (found.length === 0 || Date.now() > until) return found
  }
}

const CUT = `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => {
  const root = document.documentElement
  const over = root.scrollWidth - root.clientWidth
  const found = over > 0 ? ['scrolls sideways by ' + over] : []
  const canScroll = element =>
    element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || canScroll(element.parentElement))
  for (const element of document.querySelectorAll('header *, main *')) {
    // A picture that is moved by hand.
    if (element.closest('.react-flow')) continue
    const { left, right, width, height } = element.getBoundingClientRect()
    if (width > 1 && height > 1 && (right > innerWidth + 1 || (left < -1 && right > 0)) && !canScroll(element))
      found.push('sticks out: ' + element.outerHTML.slice(0, 160))
    if (
      element.matches('button, a, [role="tab"], .mantine-Button-label, .mantine-Badge-label') &&
      element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === 'hidden'
    ) found.push('is cut off: ' + element.outerHTML.slice(0, 160))
  }
  return found
})`

/** Goes to a screen as a link of the page does, and waits until everything on it is loaded. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
  await settled(page)
}

export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}
