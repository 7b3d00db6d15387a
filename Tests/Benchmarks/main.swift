// Instructions per step, without sockets: run under `valgrind --tool=callgrind`, or for times alone.
//
//     BENCH=1 swift build -c release --product benchmarks
//     .build/release/benchmarks override 1000 2000000

Benchmarks.run(CommandLine.arguments)
