import { type Command, UsageError } from '../command.ts'
import { SCRIPTS } from '../completion/scripts.ts'
import { EXIT } from '../exit-codes.ts'

export const completion: Command = {
  help: `
Print a script that lets a shell complete Kogu's commands, options and names with Tab.

  source <(kogu completion bash)                                          in ~/.bashrc
  source <(kogu completion zsh)                                           in ~/.zshrc, after compinit
  kogu completion fish > ~/.config/fish/completions/kogu.fish
  kogu completion powershell | Out-String | Invoke-Expression             in $PROFILE

Names of tools, panels, pipelines, models, settings, rules, questions and runs are completed as they are now. Completion
starts nothing, and stays silent when it fails.
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
