import Platform

StandardStream.exit(Command.run(Array(CommandLine.arguments.dropFirst())))
