public import Configuration
import Platform

extension Configuration {
    /// The configuration that a file holds. `nil` where the file is not there and need not be.
    public init?(file: String, isOptional: Bool = false) throws(RejectedConfiguration) {
        let text: [UInt8]
        do throws(FileError) {
            text = try File.octets(at: file, limit: 1 << 24)
        } catch {
            if isOptional, error.error == .noSuchFile { return nil }
            let sentence = "the configuration cannot be read: \(error.error)"
            throw RejectedConfiguration(errors: [SettingError(file: file, sentence: sentence)])
        }
        try self.init(parsing: text, file: file)
    }

    /// Where a configuration is looked for when nothing is said.
    public static let usualFile = "/etc/detour/detour.json5"

    /// Whether that file is there, be it readable or not.
    public static var hasUsualFile: Bool {
        do throws(FileError) {
            _ = try File.octets(at: usualFile)
            return true
        } catch {
            return error.error != .noSuchFile
        }
    }
}
