import { resolve } from 'node:path'
import { initWorkspace } from '../../config/init.ts'
import { type Command, textOption } from '../command.ts'
import { EXIT } from '../exit-codes.ts'

export const init: Command = {
  help: `
Make a folder a Kogu workspace: .kogu/config.toml, its schema for editors, and .kogu/.gitignore. Overwrites nothing.

  kogu init
  kogu init --cwd ../other-project
`,
  options: {},
  words: 0,
  async run({ cwd, values, output }) {
    const steps = initWorkspace(resolve(cwd, textOption(values, 'cwd') ?? '.'))
    if (output.json) output.object({ ok: true, files: steps })
    else output.data(steps.map(step => `${step.status}  ${step.path}`).join('\n'))
    return EXIT.ok
  },
}
