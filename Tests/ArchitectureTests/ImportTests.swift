import Testing

@Suite("The import graph")
struct ImportTests {
    /// What each module may import. The programs may import all of ours.
    static let allowed: [String: Set<String>] = [
        // The kernel's calls, those that Glibc's module map hides among them.
        "Platform": ["CLinux"],
        "DNS": [],
        "Zones": ["DNS"],
        "Resolver": ["DNS", "Zones", "Synchronization"],
        "TLS": ["COpenSSL", "Platform"],
        "Server": ["Platform", "TLS", "DNS", "Resolver", "Synchronization"],
        // Synchronization: what was parsed and verified is remembered for any thread.
        "Certificates": ["COpenSSL", "Synchronization"],
        // COpenSSL: libcurl hands over the SSL_CTX that its handshakes are watched through.
        // Synchronization: a run is stopped, and a challenge resolved, from any thread.
        "HTTPSVerifier": [
            "Certificates", "COpenSSL", "CCurl", "FoundationEssentials", "Synchronization",
        ],
        // DNS: names and addresses are values of settings.
        "Configuration": ["DNS", "Zones"],
        // What both programs make of a configuration: it reads the files and compiles the policy.
        // TLS: whether a file has anchors is known before anybody is served.
        "PolicyLoading": ["Configuration", "Platform", "DNS", "Zones", "Resolver", "TLS"],
        // PolicyLoading, Resolver, Zones, DNS: overrides are scanned, compiled and placed as those
        // of files are. CMicrohttpd: metrics over HTTP. Synchronization: the log and a reload's
        // result pass between threads.
        "Control": [
            "Server", "PolicyLoading", "Configuration", "Resolver", "Zones", "DNS", "Platform",
            "CMicrohttpd", "Synchronization", "FoundationEssentials",
        ],
    ]
    static let programs: Set<String> = ["detourd", "detour"]

    let tree: SourceTree

    init() throws { tree = try SourceTree() }

    @Test("every module imports what the design allows, and nothing else")
    func allowedImports() {
        #expect(tree.modules.contains("DNS"), "the sources were found")
        for module in tree.modules {
            let imports = tree.imports(of: module)
            if Self.programs.contains(module) {
                // Synchronization: the signal that interrupts a verification comes on its own thread.
                let others = Set(Self.allowed.keys).union(["Synchronization"])
                #expect(imports.subtracting(others) == [], "\(module)")
            } else if let allowed = Self.allowed[module] {
                #expect(imports.subtracting(allowed) == [], "\(module)")
            } else {
                Issue.record("\(module) is not in the table: say what it may import")
            }
        }
    }

    @Test("the graph has no cycle")
    func acyclic() {
        var remaining = Dictionary(
            uniqueKeysWithValues: tree.modules.map { module in
                (module, tree.imports(of: module).intersection(tree.modules))
            }
        )
        // Take away what imports nothing that is left, until nothing is left, or nothing can be.
        while let leaf = remaining.first(where: { $0.value.isEmpty })?.key {
            remaining[leaf] = nil
            for module in remaining.keys { remaining[module]?.remove(leaf) }
        }
        #expect(remaining.isEmpty, "these import each other: \(remaining)")
    }

    @Test("nothing imports Foundation, which brings ICU")
    func noFoundation() {
        for module in tree.modules {
            #expect(!tree.imports(of: module).contains("Foundation"), "\(module)")
        }
    }
}
