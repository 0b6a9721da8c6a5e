import Glibc

exit(await Command.main(Array(CommandLine.arguments.dropFirst())))
