/** Inline code of other languages that deletes what nobody may delete, as far as its text shows it. */

import { protectedName } from './destructive-paths.ts'
import { quotedForbidden } from './embedded-commands.ts'
import { normalize } from './state.ts'
import type { CommandContext } from './types.ts'

const DELETES =
  /\b(?:rmtree|remove_tree|rm_rf|rm_r|rm_f|remove_dir|remove_entry\w*|rmSync|rmdirSync|rmdir|rm|rimraf(?:Sync|\.sync)?|removeSync|remove|removedirs|emptyDir\w*|deleteSync|delete|unlink|walk|rglob)\s*[( ]\s*\[?\s*/g
const HOME =
  /^(?:[\w.]*expanduser\(\s*["']~\/?["']\s*\)|(?:[\w.]*\.)?homedir\(\)|(?:pathlib\.)?Path\.home\(\)|Dir\.home|process\.env\.HOME|(?:os\.)?(?:environ|ENV|getenv)\s*[[({.]\s*["']?HOME|\$?ENV[[{]["']?HOME|require\(["'](?:node:)?os["']\)\.homedir\(\))/
const RUNS = /system|exec|popen|spawn|subprocess|\brun\b|\bcall\b|`|%x|\bqx\b/i

/** The rest of the sentence "This ...", or null. */
export function deletingCode(code: string, context: CommandContext): string | null {
  const text = code.slice(0, 20_000)
  for (const match of text.matchAll(DELETES)) {
    const name = targetName(
      text.slice(match.index + match[0].length, match.index + match[0].length + 200),
      context,
    )
    const walks = /^(?:walk|rglob)/.test(match[0])
    if (name !== null && (!walks || /\b(?:remove|unlink|rmdir|rmtree)\b/.test(text))) return `deletes ${name}`
  }
  if (!RUNS.test(text)) return null
  const found = quotedForbidden(text)
  return found === null ? null : `runs ${found}`
}

function targetName(after: string, context: CommandContext): string | null {
  if (HOME.test(after)) return 'a home folder'
  const path = /^(?:[\w.]*Path\(\s*)?["'`]([^"'`\n]{1,100})["'`]\s*(?:[,)\];]|$)/.exec(after)?.[1]
  if (path === undefined) return null
  const plain = path.replace(/\/?\*+$/, '').replace(/^~(?=\/|$)/, context.home)
  if (plain === '' && path.startsWith('/')) return 'the whole file system'
  return plain.startsWith('/') ? protectedName(normalize(plain), context) : null
}
