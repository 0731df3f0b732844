import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestRuntime } from '../../test/support/runtime.ts'
import { createNotifier } from './notify.ts'

test('a command that an agent could have written is refused, and never gets the link', async () => {
  const box = await openTestRuntime()
  box.write('notify.sh', '#!/bin/sh\ntouch "$0.ran"\n')
  chmodSync(join(box.workspace, 'notify.sh'), 0o755)
  const problems: string[] = []
  const told = new Promise<void>(resolve => {
    const output = { problem: (text: string) => resolve(void problems.push(text)) }
    const { loaded, environment, workspace } = box
    const notify = { ...loaded.config.notify, command: [join(workspace, 'notify.sh')] }
    const config = { ...loaded, config: { ...loaded.config, notify } }
    createNotifier({ environment, output }, config)({ id: 'q', tool: 'write_file', risk: 'high', link: 'x' })
  })
  await told
  expect(problems[0]).toContain('where an agent can write')
  expect(existsSync(join(box.workspace, 'notify.sh.ran'))).toBe(false)
  await box.close()
})
