import { Anchor, Typography } from '@mantine/core'
import { useMemo } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { useWords } from '../i18n/language.tsx'
import { Diagram } from './diagram.tsx'
import { makeVisible } from './untrusted.tsx'
import { words } from './words.ts'

/** Markdown of a model: no HTML, no images from elsewhere, and links that say where they lead. */
export default function Markdown({ text }: { text: string }) {
  const t = useWords(words)
  const components = useMemo<Components>(
    () => ({
      a: ({ href = '', children }) => <SafeLink href={href}>{children}</SafeLink>,
      img: ({ src = '' }) => <em>{t('imageBlocked', { host: hostOf(String(src)) })}</em>,
      code: ({ className = '', children }) =>
        className.includes('language-mermaid') ? (
          <Diagram source={String(children)} />
        ) : (
          <code className={className}>{children}</code>
        ),
      table: ({ children }) => (
        <div style={{ overflowX: 'auto' }}>
          <table>{children}</table>
        </div>
      ),
    }),
    [t],
  )
  const shown = useMemo(() => makeVisible(text.slice(0, MOST_CHARACTERS)), [text])
  return (
    <Typography fz="sm">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {shown}
      </ReactMarkdown>
    </Typography>
  )
}

const MOST_CHARACTERS = 200_000

function SafeLink({ href, children }: { href: string; children: React.ReactNode }) {
  const host = hostOf(href)
  if (!/^https?:/.test(href)) return <>{children}</>
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer" inherit>
      {children} ({host})
    </Anchor>
  )
}

function hostOf(address: string): string {
  try {
    return new URL(address).host
  } catch {
    // Relative, or no address at all.
    return '?'
  }
}
