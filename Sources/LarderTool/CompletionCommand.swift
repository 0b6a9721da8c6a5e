import LarderTerminal

extension Command {
  static let completion = Command(
    name: "completion", arguments: "SHELL", argumentCount: 1...1,
    summary: "Prints the script by which bash, zsh or fish completes commands and options.",
    details: """
      Example:
        larder completion bash > ~/.local/share/bash-completion/completions/larder
        larder completion zsh > ~/.zfunc/_larder
        larder completion fish > ~/.config/fish/completions/larder.fish
      """
  ) { invocation in
    guard let shell = Shell(rawValue: invocation.arguments[0]) else {
      let known = Shell.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure(.usage, "there are completions for \(known), not “\(invocation.arguments[0])”")
    }
    print(Program.larder.completionScript(for: shell))
  }
}
