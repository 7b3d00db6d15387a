/// A certificate that paths may end in, and where it was configured.
public struct Anchor: Sendable, Hashable {
    /// The certificate: a root, an intermediate or a leaf.
    public let certificate: Certificate
    /// The file that it came from.
    public let file: String
    /// The line where it begins; 1 in a binary file.
    public let line: Int

    /// An anchor from a line of a file.
    public init(certificate: Certificate, file: String, line: Int) {
        self.certificate = certificate
        self.file = file
        self.line = line
    }

    /// `anchors/root.pem:12`.
    public var place: String { "\(file):\(line)" }
}

/// The anchors that one name may use, indexed.
public struct Anchors: Sendable {
    /// All of them, in the order in which they were configured, without duplicates.
    public private(set) var all: [Anchor] = []
    /// What was odd about the files: blocks that were skipped, anchors given twice.
    public private(set) var warnings: [AnchorWarning] = []

    private var byCertificate: [Certificate: Int] = [:]
    private var bySubject: [DistinguishedName: [Int]] = [:]

    /// No anchors: nothing can be accepted.
    public init() {}

    /// Whether nothing can be accepted.
    public var isEmpty: Bool { all.isEmpty }

    /// Adds an anchor; one that is there already is kept, and a warning says so.
    public mutating func add(_ anchor: Anchor) {
        if let known = byCertificate[anchor.certificate] {
            let first = all[known].place
            if first != anchor.place {
                warn(anchor.file, anchor.line, "the same certificate as at \(first)")
            }
            return
        }
        byCertificate[anchor.certificate] = all.count
        bySubject[anchor.certificate.subject, default: []].append(all.count)
        all.append(anchor)
    }

    /// Adds all anchors of `others`, and their warnings.
    public mutating func add(_ others: Anchors) {
        warnings += others.warnings
        for anchor in others.all { add(anchor) }
    }

    mutating func warn(_ file: String, _ line: Int, _ reason: String) {
        warnings.append(AnchorWarning(file: file, line: line, reason: reason))
    }

    /// The anchor that is this very certificate.
    func anchor(for certificate: Certificate) -> Anchor? {
        byCertificate[certificate].map { all[$0] }
    }

    func certificates(named subject: DistinguishedName) -> [Certificate] {
        (bySubject[subject] ?? []).map { all[$0].certificate }
    }
}

/// Something odd about an anchor file that leaves the rest of it usable.
public struct AnchorWarning: Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// What is odd.
    public let reason: String

    /// `file:line: warning: reason`.
    public var description: String { "\(file):\(line): warning: \(reason)" }
}
