import Configuration
import DNS
import PolicyLoading
import Zones

/// The options by which a subcommand is told what to read: a configuration, or zone files.
struct ZoneOptions {
    var file: String?
    var zones: [ZoneFile] = []

    var isEmpty: Bool { file == nil && zones.isEmpty }

    /// Takes an option that is one of these; false where it is none.
    mutating func take(
        _ option: String,
        _ words: inout OptionWords
    ) throws(OptionWords.Mistake) -> Bool {
        switch option {
        case "--config": file = try words.value()
        case "--zone": zones.append(ZoneFile(path: try words.value(), kind: .override))
        case "--hosts": zones.append(ZoneFile(path: try words.value(), kind: .hosts))
        case "--authoritative": zones.append(try zone(try words.value(), .authoritative))
        case "--rpz": zones.append(try zone(try words.value(), .rpz))
        default: return false
        }
        return true
    }

    private func zone(_ text: String, _ kind: ZoneKind) throws(OptionWords.Mistake) -> ZoneFile {
        guard let file = ZoneFile(flag: text, kind: kind) else {
            throw OptionWords.Mistake(
                sentence: "--\(kind) \(text): write the zone's name, '=' and its file, as in "
                    + "example.com=zones/example.com.zone"
            )
        }
        return file
    }

    /// What they say together: the usual file, where nothing is said.
    func configuration() throws(RejectedConfiguration) -> Configuration {
        var configuration = Configuration()
        if file != nil || zones.isEmpty {
            configuration =
                try Configuration(file: file ?? Configuration.usualFile, isOptional: file == nil)
                ?? configuration
        }
        configuration.add(zones)
        return configuration
    }
}
