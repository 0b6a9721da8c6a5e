import Glibc
import LarderMacroExpansion

// The executable that the compiler runs to expand the macros of LarderMacros. It reads messages from the
// standard input and answers on the standard output.

// SIGPIPE is ignored: if the compiler is gone, writing throws instead of killing the process.
_ = signal(SIGPIPE, SIG_IGN)
do {
  try MessageStream(input: STDIN_FILENO, output: STDOUT_FILENO).run()
} catch {
  let text = Array("LarderMacrosPlugin: \(error)\n".utf8)
  _ = write(STDERR_FILENO, text, text.count)
  exit(1)
}
