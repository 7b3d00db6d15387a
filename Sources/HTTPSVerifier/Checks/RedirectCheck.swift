internal import Certificates

/// Where the response sends its reader. A redirect is reported; it is followed only where asked.
enum RedirectCheck {
    static func findings(_ evidence: Evidence, _ requirements: Requirements) -> [Finding] {
        guard let response = evidence.response, let location = Redirect.location(response) else {
            return []
        }
        let text = "\(response.status) to \(location)"
        let isDowngrade = evidence.scheme == .https && location.lowercased().hasPrefix("http:")
        var findings = [Finding(isDowngrade ? .redirectDowngrade : .redirect, .endpoint, text)]
        switch evidence.redirection {
        case "not overridden": findings.append(Finding(.redirectNotOverridden, .endpoint, location))
        case "loop": findings.append(Finding(.redirectLoop, .endpoint, location))
        default: break
        }
        return findings
    }
}

/// A redirect's target, taken apart.
struct Redirect {
    let scheme: Scheme
    let host: String
    let port: UInt16
    let path: String

    /// The Location of a redirecting response.
    static func location(_ response: Evidence.Response) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
        return response.values(of: "location").first
    }

    /// The absolute or relative reference, seen from an endpoint; nil where it is no HTTP URL.
    init?(_ location: String, from evidence: Evidence) {
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            (scheme, host, port, path) = (evidence.scheme, evidence.name, evidence.port, location)
            return
        }
        let parts = location.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let name = parts[0].isEmpty ? evidence.scheme.rawValue : String(parts[0].dropLast())
        guard parts[0].isEmpty || parts[0].hasSuffix(":"), let scheme = Scheme(name), scheme.isHTTP
        else { return nil }
        self.scheme = scheme
        let end = parts[1].firstIndex { "/?#".contains($0) } ?? parts[1].endIndex
        let rest = parts[1][end...].prefix { $0 != "#" }
        path = rest.hasPrefix("/") ? String(rest) : "/" + rest
        // What stands before an @ is for nobody here.
        let authority =
            parts[1][..<end].split(
                separator: "@",
                omittingEmptySubsequences: false
            ).last ?? ""
        if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
            host = String(authority[authority.index(after: authority.startIndex)..<close])
            let tail = authority[authority.index(after: close)...]
            guard let port = Redirect.port(tail, scheme) else { return nil }
            self.port = port
        } else {
            let colon = authority.firstIndex(of: ":") ?? authority.endIndex
            host = String(authority[..<colon])
            guard !host.isEmpty, let port = Redirect.port(authority[colon...], scheme) else {
                return nil
            }
            self.port = port
        }
    }

    private static func port(_ text: Substring, _ scheme: Scheme) -> UInt16? {
        text.isEmpty || text == ":" ? scheme.defaultPort : UInt16(text.dropFirst())
    }
}
