import Testing

@Suite("The import graph")
struct ImportTests {
    /// What each module may import. The programs may import all of ours.
    static let allowed: [String: Set<String>] = [
        "Platform": ["CLinux", "CCap", "Synchronization"],
        "DNS": [],
        "Zones": ["DNS"],
        "Resolver": ["DNS", "Zones", "Synchronization"],
        "TLS": ["COpenSSL", "Platform"],
        "Server": ["Platform", "TLS", "DNS", "Zones", "Resolver", "Synchronization"],
        "Certificates": ["COpenSSL", "Synchronization"],
        // libcurl takes an SSL_CTX, which is OpenSSL's.
        "HTTPSVerifier": [
            "Certificates", "COpenSSL", "CCurl", "DNS", "Zones", "FoundationEssentials",
            "Synchronization",
        ],
        "Configuration": ["DNS", "Zones", "FoundationEssentials"],
        // What both programs make of a configuration.
        "PolicyLoading": [
            "Configuration", "Platform", "DNS", "Zones", "Resolver", "FoundationEssentials",
        ],
        // Overrides are scanned, compiled and placed as those of files are; libmicrohttpd speaks HTTP.
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
                // `detour` still has signals and output of its own, and so Glibc; Platform has both.
                let others = Set(Self.allowed.keys).union(
                    ["FoundationEssentials", "Synchronization", "Glibc"]
                )
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
