internal import CLinux

/// A user of this machine and a group: whom to become, or to give something to.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    /// What the machine calls the user; nil where it has no name for the number.
    public let name: String?
    /// The user.
    public let user: UInt32
    /// The group.
    public let group: UInt32

    /// Why a text names no account, as a sentence without its subject.
    public struct Unknown: Error, Hashable, Sendable {
        /// `there is no user 'detour'`.
        public let sentence: String
    }

    /// The account that `NAME` or `NAME:GROUP` names; either may be a number. Without a group it is
    /// the user's own.
    ///
    /// Asks the machine's databases, which may wait for a network.
    public init(scanning text: String) throws(Unknown) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let word = String(parts.first ?? "")
        guard !word.isEmpty, parts.last?.isEmpty == false else {
            throw Unknown(sentence: "'\(text)' names no user; write NAME, or NAME:GROUP")
        }
        var user: uid_t = 0
        var group: gid_t = 0
        // Safe: NUL-terminated for the call, which writes two integers of ours.
        var isKnown = try Account.isFound(unsafe clinux_find_user(word, &user, &group), word)
        var name: String? = word
        if !isKnown {
            guard let number = UInt32(word), number != UInt32.max else {
                throw Unknown(sentence: "there is no user '\(word)'")
            }
            user = number
            // Safe: without a name, the call looks for the number.
            isKnown = try Account.isFound(unsafe clinux_find_user(nil, &user, &group), word)
            name = isKnown ? LocalPeer.name(ofUser: user) : nil
        }
        if parts.count == 2 {
            let word = String(parts[1])
            // Safe: NUL-terminated for the call, which writes an integer of ours.
            if try !Account.isFound(unsafe clinux_find_group(word, &group), word) {
                guard let number = UInt32(word), number != UInt32.max else {
                    throw Unknown(sentence: "there is no group '\(word)'")
                }
                group = number
            }
        } else if !isKnown {
            throw Unknown(
                sentence:
                    "the user \(word) has no name on this machine, and so no group of its own; "
                    + "write \(word):GROUP"
            )
        }
        self.name = name
        self.user = user
        self.group = group
    }

    private static func isFound(_ result: Int32, _ word: String) throws(Unknown) -> Bool {
        guard result >= 0 else {
            throw Unknown(sentence: "'\(word)' cannot be looked up: \(Errno.last)")
        }
        return result > 0
    }

    /// Whether this process is it already.
    public var isOwn: Bool {
        geteuid() == user && getuid() == user && getegid() == group && getgid() == group
    }

    /// The user's name, or its number.
    public var description: String { name ?? "\(user)" }
}
