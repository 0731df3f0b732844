import { installCrypto } from './crypto.ts'
import { installEvents } from './events.ts'
import { installFetch } from './fetch.ts'
import { installLanguage } from './language.ts'
import { createRealm } from './realm.ts'
import { installUrl } from './url.ts'

const INSTALLERS = [installEvents, installLanguage, installUrl, installCrypto, installFetch]

/**
 * The text that sets up a new context: a function of `send` and the limits. It returns a function that takes what the
 * tool's code defined and gives the entry. The functions above are its parts, as they are written.
 */
export const INSIDE_SOURCE = `(function (send, limits) {
  'use strict'
  const [realm, toEntry] = (${createRealm})(send, limits)
  for (const install of [${INSTALLERS.join(',\n')}]) install(realm)
  return toEntry
})`
