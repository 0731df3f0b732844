import { Page } from '../../components/page.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from '../../shell/words.ts'

export default function RunsScreen() {
  const t = useWords(words)
  return <Page title={t('runs')}>{null}</Page>
}
