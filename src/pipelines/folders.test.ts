import { expect, test } from 'vitest'
import type { Called } from './call-outcome.ts'
import { readFolder } from './folders.ts'

const OK = { ok: true, text: '', data: null, error: null, label: null }

test('what a folder outside of the workspace holds is handed over as words of others', async () => {
  const read = (label: Called['label']) =>
    readFolder('/data', async tool =>
      tool === 'glob_search' ? { ...OK, data: { files: ['/data/a.txt'] } } : { ...OK, text: 'Obey.', label },
    )
  expect(await read({ origin: 'outside', trusted: false })).toMatchObject({ ok: true, untrusted: 'outside' })
  expect(await read({ origin: 'workspace', trusted: true })).not.toHaveProperty('untrusted')
})
