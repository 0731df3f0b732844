import { useWords } from '../../../i18n/language.tsx'
import { words } from './words.ts'

/** Which way a run was started, from what is kept of it: `cli`, `pipeline`, or `http:` with a name and the id of a token. */
export function useStarter(): (startedBy: string) => string {
  const t = useWords(words)
  return startedBy => {
    if (startedBy === 'cli') return t('byCli')
    if (startedBy === 'pipeline') return t('byPipeline')
    if (startedBy === 'http:person') return t('byPage')
    return startedBy.startsWith('http:')
      ? t('byToken', { name: startedBy.slice(5).replace(/#\w+$/, '') })
      : startedBy
  }
}
