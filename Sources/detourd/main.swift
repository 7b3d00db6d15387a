import Platform

StandardStream.exit(Daemon.run(CommandLine.arguments))
