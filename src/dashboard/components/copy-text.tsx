import { Button, CopyButton } from '@mantine/core'
import { useWords } from '../i18n/language.tsx'
import { words } from './words.ts'

export function CopyText({ text, label }: { text: string; label?: string }) {
  const t = useWords(words)
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-sm" variant="default" onClick={copy}>
          {copied ? t('copied') : (label ?? t('copy'))}
        </Button>
      )}
    </CopyButton>
  )
}
