import DNS

// $ORIGIN, $TTL, $INCLUDE (RFC 1035, 5.1; RFC 2308, 4).

extension MasterFileScanner {
    /// A line that starts with `$`.
    mutating func scanDirective<Sink: RecordSink & ~Copyable>(
        _ token: Token,
        _ scanner: inout TextScanner,
        from entry: TextScanner,
        file: UInt16,
        including reader: Reader,
        into sink: inout Sink
    ) throws(PresentationError) {
        let word = scanner.octets(of: token)
        if word.isDirective("$ORIGIN") {
            guard let name = try scanner.next() else {
                return add(.incompleteDirective, from: entry, file, at: scanner.position)
            }
            origin = try scanName(name, of: scanner)
            isOriginStated = true
        } else if word.isDirective("$TTL") {
            let value = try scanner.requireField(.ttl)
            guard let seconds = RData.scanTTL(scanner.octets(of: value)) else {
                throw PresentationError(.malformed(.ttl), about: value)
            }
            statedTTL = min(seconds, 0x7FFF_FFFF)
            if seconds > 0x7FFF_FFFF {
                let length = value.end - value.start
                add(.ttlTooLarge, .warning, from: entry, file, at: value.start, length)
            }
        } else if word.isDirective("$INCLUDE") {
            guard let path = try scanner.next() else {
                return add(.incompleteDirective, from: entry, file, at: scanner.position)
            }
            var start = origin
            if let name = try scanner.next() { start = try scanName(name, of: scanner) }
            try scanner.requireEnd()
            include(
                path,
                origin: start,
                from: entry,
                file: file,
                including: reader,
                into: &sink
            )
        } else if word.isDirective("$GENERATE") {
            try generate(&scanner, from: entry, file: file, including: reader, into: &sink)
        } else {
            let length = token.end - token.start
            add(.unknownDirective, from: entry, file, at: token.start, length)
            while try scanner.next() != nil {}
        }
        try scanner.requireEnd()
    }

    private func scanName(
        _ token: Token,
        of scanner: TextScanner
    ) throws(PresentationError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 512)
        let count = try MasterFileScanner.scanName(
            token,
            of: scanner,
            origin: origin,
            into: &octets
        )
        return Array(octets[..<count])
    }

    /// Reads another file here. The origin and the last owner are this file's again behind it.
    private mutating func include<Sink: RecordSink & ~Copyable>(
        _ token: Token,
        origin start: [UInt8],
        from entry: TextScanner,
        file: UInt16,
        including reader: Reader,
        into sink: inout Sink
    ) {
        let length = token.end - token.start
        let spelling = String(decoding: entry.octets(of: token).array, as: UTF8.self)
        // Files that include each other twice each would double at each depth.
        guard includeDepth < settings.maximumIncludeDepth && report.files.count < 4096 else {
            return add(.includeTooDeep, from: entry, file, at: token.start, length)
        }
        guard
            let path = IncludePath(
                spelling,
                in: report.files[Int(file)],
                zoneFile: report.files[0]
            )
        else { return add(.includeOutside, from: entry, file, at: token.start, length) }
        let text: [UInt8]
        do {
            text = try reader(path.relative)
        } catch {
            return add(.unreadable(error.reason), from: entry, file, at: token.start, length)
        }
        let saved = (origin, isOriginStated, owner, ownerLength, isOwnerSkipped)
        report.files.append(path.display)
        origin = start
        ownerLength = 0
        isOwnerSkipped = false
        includeDepth += 1
        scanFile(
            text.span,
            file: UInt16(report.files.count - 1),
            including: reader,
            into: &sink
        )
        includeDepth -= 1
        (origin, isOriginStated, owner, ownerLength, isOwnerSkipped) = saved
    }
}

/// Where an included file is: below the directory of the zone's own file, or nowhere.
struct IncludePath: Equatable {
    /// The path from that directory.
    let relative: String
    /// The path for findings, which starts as the zone's own file's does.
    let display: String

    /// The file that `spelling` means in `file`; nil outside the directory of `zoneFile`.
    init?(_ spelling: String, in file: String, zoneFile: String) {
        let root = IncludePath.directory(of: zoneFile)
        var parts: [Substring] = []
        var path = spelling[...]
        if path.hasPrefix("/") {
            guard !root.isEmpty, path.hasPrefix(root) else { return nil }
            path = path.dropFirst(root.count)
        } else {
            parts = IncludePath.directory(of: file).dropFirst(root.count)
                .split(separator: "/")
        }
        for part in path.split(separator: "/") where part != "." {
            if part == ".." {
                guard parts.popLast() != nil else { return nil }
            } else {
                parts.append(part)
            }
        }
        guard !parts.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else { return nil }
        relative = parts.joined(separator: "/")
        display = root + relative
    }

    /// A path up to its last slash.
    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[...slash])
    }
}

extension TextScanner {
    /// Throws where the entry has another token.
    @_lifetime(self: copy self)
    mutating func requireEnd() throws(PresentationError) {
        if let extra = try next() { throw PresentationError(.surplus, about: extra) }
    }
}

extension Span where Element == UInt8 {
    /// Whether it is a directive's word, the case apart.
    func isDirective(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        var index = 0
        for octet in word.description.utf8 {
            guard asciiLowercased(self[index]) == asciiLowercased(octet) else { return false }
            index += 1
        }
        return true
    }

    /// A copy.
    var array: [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(count)
        for index in 0..<count { octets.append(self[index]) }
        return octets
    }
}
