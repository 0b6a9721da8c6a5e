import Glibc
import LarderMacroExpansion

// The executable that the compiler runs to expand the macros of LarderMacros. It reads messages from the
// standard input and answers on the standard output.

// Where the compiler has gone, writing is an error rather than a signal.
_ = signal(SIGPIPE, SIG_IGN)
do {
  try MessageStream(input: STDIN_FILENO, output: STDOUT_FILENO).run()
} catch {
  let text = Array("LarderMacrosPlugin: \(error)\n".utf8)
  _ = write(STDERR_FILENO, text, text.count)
  exit(1)
}
