import FoundationEssentials
import Testing

/// Suites that others wrote. They are not part of the package: DETOUR_CONFORMANCE names the
/// folder, or it lies beside the package as ../shared/conformance.
enum ConformanceData {
    static let folder: String = {
        if let path = ProcessInfo.processInfo.environment["DETOUR_CONFORMANCE"] { return path }
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/" + root + "/../shared/conformance"
    }()

    static func path(_ name: String) -> String { folder + "/x509/" + name }

    /// Nil, and a loud line, where the file is absent.
    static func contents(_ name: String) -> [UInt8]? {
        guard let data = try? Data(contentsOf: URL(filePath: path(name))) else {
            print("SKIPPED: \(path(name)) is absent; set DETOUR_CONFORMANCE to judge against it")
            return nil
        }
        return Array(data)
    }
}
