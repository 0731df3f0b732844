/** Reads the corpus for the tests. A line is `LEVEL COMMAND`; in safe.txt and contained.txt only the command; ⏎ stands for a newline. */
import { readFileSync } from 'node:fs'

export interface CorpusEntry {
  expected: string
  command: string
}

export function loadCorpus(name: 'safe' | 'contained' | 'work' | 'hostile' | 'interactive'): CorpusEntry[] {
  const text = readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8')
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('## '))
  return lines.map(line => {
    const blank = name === 'safe' || name === 'contained' ? -1 : line.indexOf(' ')
    const expected = blank === -1 ? name : line.slice(0, blank)
    return { expected, command: line.slice(blank + 1).replaceAll('⏎', '\n') }
  })
}
