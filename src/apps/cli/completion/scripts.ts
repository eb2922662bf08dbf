import type { SHELLS } from "./candidates.ts";

/** Shell with a completion script. */
export type Shell = (typeof SHELLS)[number];

/**
 * Shell completion scripts. Each script gets the possible completions from the program, and so remains valid when commands are
 * added.
 */
export const SCRIPTS: { readonly [shell in Shell]: string } = {
  bash: `# Completion of sessiontree for bash. In ~/.bashrc:  eval "$(sessiontree completion bash)"
_sessiontree() {
  local IFS=$' \\t\\n' line=\${COMP_LINE:0:COMP_POINT} words=() word
  read -a words <<< "$line"
  [[ $line == *[[:space:]] && $line != *\\\\[[:space:]] ]] && words+=("")
  COMPREPLY=()
  while IFS= read -r word; do
    printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <(sessiontree completion bash -- "\${words[@]:1}" 2> /dev/null)
}
complete -o default -F _sessiontree sessiontree
`,
  zsh: `#compdef sessiontree
# Completion of sessiontree for zsh. In ~/.zshrc, after compinit:  eval "$(sessiontree completion zsh)"
_sessiontree() {
  local -a found
  found=("\${(@f)$(sessiontree completion zsh -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} )); then
    _describe -V sessiontree found
  else
    _files
  fi
}
if [[ $funcstack[1] == _sessiontree ]]; then
  _sessiontree "$@"
else
  compdef _sessiontree sessiontree
fi
`,
  fish: `# Completion of sessiontree for fish. In ~/.config/fish/config.fish:  sessiontree completion fish | source
function __sessiontree_complete
    set -l words (commandline -opc) (commandline -ct | string unescape)
    sessiontree completion fish -- $words[2..-1] 2>/dev/null
end
complete -c sessiontree -k -a '(__sessiontree_complete)'
`,
};
