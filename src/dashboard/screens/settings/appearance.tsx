import { SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core'
import { useLanguage, useWords } from '../../i18n/language.tsx'
import { LANGUAGES, type Language } from '../../i18n/words.ts'
import { words } from './words.ts'

const NAMES: Readonly<Record<Language, string>> = { en: 'English', ja: '日本語', ko: '한국어' }

export function Appearance() {
  const t = useWords(words)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { language, setLanguage } = useLanguage()
  return (
    <Stack gap="md" maw={520}>
      <div>
        <Text fw={600} size="sm" mb={4}>
          {t('theme')}
        </Text>
        <SegmentedControl
          aria-label={t('theme')}
          value={colorScheme}
          onChange={value => setColorScheme(value as typeof colorScheme)}
          data={[
            { value: 'auto', label: t('system') },
            { value: 'light', label: t('light') },
            { value: 'dark', label: t('dark') },
          ]}
        />
      </div>
      <div>
        <Text fw={600} size="sm" mb={4}>
          {t('language')}
        </Text>
        <SegmentedControl
          aria-label={t('language')}
          value={language}
          onChange={value => setLanguage(value as Language)}
          data={LANGUAGES.map(value => ({ value, label: NAMES[value] }))}
        />
      </div>
      <Text size="sm" c="dimmed">
        {t('tokens')}
      </Text>
    </Stack>
  )
}
