/**
 * What a shell loads once. Each asks the hidden `kogu __complete` for the words that fit, one in a line, with a tab before
 * what it means. They name the installed program and not what was typed: pressing Tab behind `./kogu` must not run what a
 * repository has put there.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# kogu completion for bash. Load it with: source <(kogu completion bash)
_kogu() {
  local IFS=$'\\n' line
  COMPREPLY=()
  while read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(command kogu __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _kogu kogu
`,
  zsh: `#compdef kogu
# kogu completion for zsh. Load it with: source <(kogu completion zsh)
_kogu() {
  local line
  local -a values shown
  while read -r line; do
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done < <(command kogu __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#values} )); then compadd -l -d shown -a values; else _files; fi
}
compdef _kogu kogu
`,
  fish: `# kogu completion for fish. Load it with: kogu completion fish | source
function __kogu_complete
    set -l words (commandline -opc) (commandline -ct)
    command kogu __complete -- $words[2..-1] 2>/dev/null
end
complete -c kogu -a '(__kogu_complete)'
`,
  powershell: `# kogu completion for PowerShell. Load it with: kogu completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName kogu -ScriptBlock {
    param($word, $ast, $position)
    $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    # An empty word would get lost on the way to a program.
    $new = if ($word -eq '') { @('--new') } else { @() }
    kogu __complete @new -- @words 2>$null | ForEach-Object {
        $value, $meaning = $_ -split "\`t", 2
        if (-not $meaning) { $meaning = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
    }
}
`,
}
