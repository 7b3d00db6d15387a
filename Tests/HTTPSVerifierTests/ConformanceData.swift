import FoundationEssentials

/// Suites that others wrote. They are not part of the package: DETOUR_CONFORMANCE names the
/// folder, or it lies beside the package as ../shared/conformance.
enum ConformanceData {
    static let folder: String = {
        if let path = ProcessInfo.processInfo.environment["DETOUR_CONFORMANCE"] { return path }
        return package + "/../shared/conformance"
    }()

    /// The package's own folder.
    static let package: String =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// Nil, and a loud line, where the file is absent.
    static func contents(_ name: String) -> [UInt8]? {
        let path = folder + "/x509/" + name
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            print("SKIPPED: \(path) is absent; set DETOUR_CONFORMANCE to judge against it")
            return nil
        }
        return Array(data)
    }
}
