import { type Command, UsageError } from '../command.ts'
import { SCRIPTS } from '../completion/scripts.ts'
import { EXIT } from '../exit-codes.ts'

export const completion: Command = {
  help: `
Print a script for Tab completion of commands, options and names.

  source <(kogu completion bash)                                          in ~/.bashrc
  source <(kogu completion zsh)                                           in ~/.zshrc, after compinit
  kogu completion fish > ~/.config/fish/completions/kogu.fish
  kogu completion powershell | Out-String | Invoke-Expression             in $PROFILE

It also completes names of tools, panels, pipelines, models, settings, rules, questions and runs.
`,
  options: {},
  async run({ positionals, output }) {
    const [shell, ...extra] = positionals
    const script = shell !== undefined && Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
    if (script === undefined || extra.length > 0) {
      throw new UsageError(`Use: kogu completion ${Object.keys(SCRIPTS).join(' | ')}`)
    }
    if (output.json) output.object({ shell, script })
    else process.stdout.write(script)
    return EXIT.ok
  },
}
