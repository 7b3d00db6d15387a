import DNS

/// A name on the command line. What people have at hand instead would pass for one, since a name may
/// hold any octet: it would be asked for, or set, and never be met.
enum NameOperand {
    /// What is wrong with `text`, and which name it may mean, in one clause; nil where it is a name,
    /// as far as can be told.
    static func mistake(in text: String) -> String? {
        if let scheme = text.firstRange(of: "://") {
            let host = text[scheme.upperBound...].prefix { !"/:?#".contains($0) }
            return "\(text) is a URL; did you mean its host, \(host)?"
        }
        if let address = IPAddress(scanning: text) {
            return "\(text) is an address; did you mean \(address.reverseName) PTR?"
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, UInt16(parts[1]) != nil {
            return "\(text) is a host with a port; did you mean \(parts[0])?"
        }
        return nil
    }
}
