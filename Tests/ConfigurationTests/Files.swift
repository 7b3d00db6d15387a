import Platform

/// The octets of a file of the package, by its path from the top.
func octets(of path: String) throws -> [UInt8] {
    let top = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return try File.octets(at: "/\(top)/\(path)")
}
