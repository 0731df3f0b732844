import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useId, useState } from 'react'
import { useWords } from '../i18n/language.tsx'
import { inAddress } from '../routes.ts'
import { diagramSource } from './diagram-source.ts'
import { UntrustedBlock } from './untrusted.tsx'
import { words } from './words.ts'

/**
 * A Mermaid diagram that somebody else wrote, shown as a picture: an SVG in an image runs no script, follows no link and loads
 * nothing, whatever is in it. What cannot be drawn is shown as it was written.
 */
export function Diagram({ source }: { source: string }) {
  const t = useWords(words)
  const scheme = useComputedColorScheme('light')
  const id = useId().replaceAll(/\W/g, '')
  const [picture, setPicture] = useState<string | null>(null)
  useEffect(() => {
    let isShown = true
    draw(`diagram-${id}`, source, scheme).then(
      svg => isShown && setPicture(`data:image/svg+xml;charset=utf-8,${inAddress(svg)}`),
      () => isShown && setPicture(null),
    )
    return () => {
      isShown = false
    }
  }, [id, source, scheme])
  if (picture === null) return <UntrustedBlock text={source} label={t('diagram')} />
  return (
    <img
      src={picture}
      alt={source.slice(0, 500)}
      style={{ maxWidth: '100%' }}
      onError={() => setPicture(null)}
    />
  )
}

async function draw(id: string, text: string, scheme: 'light' | 'dark'): Promise<string> {
  const source = diagramSource(text)
  if (source === undefined) throw new Error('It is not drawn.')
  const { default: mermaid } = await import('mermaid')
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    suppressErrorRendering: true,
    theme: scheme === 'dark' ? 'dark' : 'neutral',
  })
  try {
    const { svg } = await mermaid.render(id, source)
    // Links of a diagram use a prefix that Mermaid does not declare; as a picture it would be broken.
    return svg.includes('xmlns:xlink') ? svg : svg.replace('<svg ', `<svg xmlns:xlink="${XLINK}" `)
  } finally {
    // Mermaid leaves where it measured in the page when it fails.
    document.getElementById(`d${id}`)?.remove()
  }
}

const XLINK = 'http://www.w3.org/1999/xlink'
