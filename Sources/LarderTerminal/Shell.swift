// Completion scripts for shells.

/// A shell that completes a program's arguments.
package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

extension Program {
  /// The script with which a shell completes the program's commands and options. Other words are completed as
  /// files.
  package func completionScript(for shell: Shell) -> String {
    switch shell {
    case .bash: bashScript
    case .zsh: zshScript
    case .fish: fishScript
    }
  }

  /// A command's own options and the common ones.
  private func options(of command: Command) -> [Option] { command.options + commonOptions }

  private var bashScript: String {
    let cases = commands.map { command in
      let words = options(of: command).map { "--\($0.name)" }.joined(separator: " ")
      return "    \(command.name)) options='\(words)' ;;"
    }
    return """
      _\(name)() {
        local word="${COMP_WORDS[COMP_CWORD]}" options=''
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W '\(commands.map(\.name).joined(separator: " "))' -- "$word"))
          return
        fi
        case "${COMP_WORDS[1]}" in
      \(cases.joined(separator: "\n"))
        esac
        case "$word" in
          -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        esac
      }
      complete -o default -o bashdefault -F _\(name) \(name)
      """
  }

  private var zshScript: String {
    let words = commands.map { "    \(Self.quoted("\($0.name):\($0.summary)"))" }
    let cases = commands.map { command in
      let specifications = options(of: command).map { option in
        let help = option.help.replacing("[", with: "(").replacing("]", with: ")")
        return Self.quoted("--\(option.name)[\(help)]" + (option.value.map { ":\($0):" } ?? ""))
      }
      return
        "    \(command.name)) _arguments \(specifications.joined(separator: " ")) '*:file:_files' ;;"
    }
    return """
      #compdef \(name)
      _\(name)() {
        local -a commands
        commands=(
      \(words.joined(separator: "\n"))
        )
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        case "$words[2]" in
      \(cases.joined(separator: "\n"))
        esac
      }
      if [ "$funcstack[1]" = "_\(name)" ]; then _\(name) "$@"; else compdef _\(name) \(name); fi
      """
  }

  private var fishScript: String {
    var lines: [String] = []
    for command in commands {
      lines.append(
        "complete -c \(name) -f -n __fish_use_subcommand -a \(command.name)"
          + " -d \(Self.quoted(command.summary))")
      for option in options(of: command) {
        lines.append(
          "complete -c \(name) -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
            + (option.value == nil ? "" : " -r") + " -d \(Self.quoted(option.help))")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Quotes any text as one word of a shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
