// The entry point. `Tool.swift` lists the commands, each of which has a file.

import Glibc

exit(await runLarder(Array(CommandLine.arguments.dropFirst())))
