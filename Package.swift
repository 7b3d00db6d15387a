// swift-tools-version: 6.3
import PackageDescription

/// What every Swift target of Detour is compiled with. A construct that strict memory safety
/// complains about is an error: each `unsafe` is deliberate and says why it is safe.
let settings: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .error),
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

// One spine, DNS -> Zones -> Resolver -> Server; Tests/ArchitectureTests proves the import graph.
let package = Package(
    name: "detour",
    products: [
        .executable(name: "detourd", targets: ["detourd"]),
        .executable(name: "detour", targets: ["detour"]),
        .library(name: "HTTPSVerifier", targets: ["HTTPSVerifier"]),
    ],
    targets: [
        .target(name: "CLinux", linkerSettings: [.linkedLibrary("cap")]),
        .target(
            name: "COpenSSL",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CMicrohttpd", linkerSettings: [.linkedLibrary("microhttpd")]),
        module("Platform", ["CLinux"]),
        module("DNS"),
        module("Zones", ["DNS"]),
        module("Resolver", ["DNS", "Zones"]),
        module("Configuration", ["DNS", "Zones"]),
        module("PolicyLoading", ["Configuration", "Platform", "DNS", "Zones", "Resolver", "TLS"]),
        module("TLS", ["COpenSSL", "Platform"]),
        module("Server", ["Platform", "TLS", "DNS", "Zones", "Resolver"]),
        module(
            "Control",
            [
                "Server", "PolicyLoading", "Configuration", "Resolver", "Zones", "DNS", "Platform",
                "CMicrohttpd",
            ]
        ),
        module("Certificates", ["COpenSSL"]),
        module("HTTPSVerifier", ["Certificates", "COpenSSL", "CCurl"]),
        program(
            "detourd",
            [
                "Control", "Configuration", "PolicyLoading", "Platform", "DNS", "Zones", "Resolver",
                "Server",
            ]
        ),
        program(
            "detour",
            [
                "HTTPSVerifier", "Certificates", "Configuration", "PolicyLoading", "Platform",
                "DNS",
                "Zones", "Resolver", "Control",
            ]
        ),

        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .target(
            name: "CLoopback",
            path: "Tests/CLoopback",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(
            name: "Support",
            dependencies: ["Platform", "DNS", "Resolver"],
            path: "Tests/Support",
            swiftSettings: settings
        ),
        tests("CommandTests", ["detour", "detourd", "Platform"]),
        tests("ConfigurationTests", ["Configuration", "Platform", "DNS", "Zones"]),
        tests("DNSTests", ["DNS", "Support"]),
        tests("ZonesTests", ["DNS", "Zones", "Support"]),
        tests("ResolverTests", ["Resolver", "Zones", "DNS"]),
        tests(
            "ScenarioTests",
            ["Configuration", "PolicyLoading", "Resolver", "Zones", "DNS", "Platform"]
        ),
        tests("PlatformTests", ["Platform"]),
        tests(
            "ControlTests",
            ["Control", "Server", "Resolver", "Zones", "DNS", "Platform", "Configuration"]
        ),
        tests(
            "ServerTests",
            ["Server", "Resolver", "Zones", "Platform", "DNS", "Support", "CAllocations"]
        ),
        tests("CertificatesTests", ["Certificates"]),
        tests("HTTPSVerifierTests", ["HTTPSVerifier", "Certificates", "CLoopback"]),
        .executableTarget(
            name: "Allocations",
            dependencies: [
                "CAllocations", "DNS", "Platform", "Resolver", "Server", "Support", "Zones",
            ],
            path: "Tests/Allocations",
            swiftSettings: settings
        ),
        tests("ArchitectureTests", []),
        tests("DaemonTests", ["detourd", "detour", "Control", "Support", "Platform"]),
        .target(
            name: "FuzzProperties",
            dependencies: ["DNS", "Zones", "Resolver", "Support"],
            path: "Tests/Fuzz/Properties",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["FuzzProperties"],
            path: "Tests/Fuzz/Replay",
            swiftSettings: settings
        ),
    ]
)

// Benchmarks are built on request alone.
if Context.environment["BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "benchmarks",
            dependencies: ["Platform", "DNS", "Zones", "Resolver"],
            path: "Tests/Benchmarks",
            swiftSettings: settings
        )
    )
}

// Fuzzers link with `--sanitize fuzzer` alone, which brings their main function.
if Context.environment["FUZZ"] != nil {
    for name in ["FuzzMessage", "FuzzZoneText"] {
        package.targets.append(
            .executableTarget(
                name: name,
                dependencies: ["FuzzProperties"],
                path: "Tests/Fuzz/\(name)",
                swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
            )
        )
    }
}
