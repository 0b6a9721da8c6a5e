// The program's beginning; the rest is in `Program.swift` and a file a command.

import Glibc

exit(await runLarder(Array(CommandLine.arguments.dropFirst())))
