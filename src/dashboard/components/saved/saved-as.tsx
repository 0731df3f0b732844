import { Text } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import type { Version, VersionsProps } from './versions.tsx'
import { words } from './words.ts'

/** When the file got its content, and as which version. Nothing where it was not saved here. */
export function SavedAs({ topic, path, hash }: Pick<VersionsProps, 'topic' | 'path' | 'hash'>) {
  const t = useWords(words)
  const format = useFormat()
  const { data = [] } = useGet<Version[]>(topic, `${path}/versions`)
  const found = data.find(version => version.hash === hash)
  if (found === undefined) return null
  const isToday = new Date(found.at).toDateString() === new Date().toDateString()
  return (
    <Text span size="sm">
      {t('savedAs', {
        when: isToday ? format.time(found.at) : format.dateTime(found.at),
        number: found.version,
      })}
    </Text>
  )
}
