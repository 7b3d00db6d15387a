/// One RRset that somebody has set while the daemon ran, as the journal and `list` show it.
///
/// All that are set at a name own the name whole: types that are not there are NODATA.
public struct Override: Codable, Equatable, Sendable {
    /// The name, absolute, in presentation format.
    public var name: String
    /// The records' type.
    public var type: String
    /// The records' data, in presentation format.
    public var records: [String]
    /// The records' TTL, in seconds.
    public var ttl: UInt32
    /// The view whose clients see it; nil: all do.
    public var view: String?
    /// What whoever set it has to say.
    public var note: String?
    /// Who set it, by the name of the user.
    public var user: String
    /// Who set it, by the number of the user.
    public var uid: UInt32
    /// When it was set.
    public var setAt: Timestamp
    /// When it ends by itself; nil: never.
    public var expiresAt: Timestamp?

    /// An override.
    public init(
        name: String,
        type: String,
        records: [String],
        ttl: UInt32,
        view: String? = nil,
        note: String? = nil,
        user: String,
        uid: UInt32,
        setAt: Timestamp,
        expiresAt: Timestamp? = nil
    ) {
        self.name = name
        self.type = type
        self.records = records
        self.ttl = ttl
        self.view = view
        self.note = note
        self.user = user
        self.uid = uid
        self.setAt = setAt
        self.expiresAt = expiresAt
    }

    /// What tells it apart from all others.
    public var key: Key { Key(name: name, type: type, view: view) }

    /// A name, a type and a view: at most one override is at each. The name is in lower case.
    public struct Key: Codable, Hashable, Sendable {
        /// The name, absolute, in presentation format and lower case.
        public let name: String
        /// The type.
        public let type: String
        /// The view; nil: the base.
        public let view: String?

        /// A key; letters of the name are folded.
        public init(name: String, type: String, view: String?) {
            self.name = name.lowercased()
            self.type = type
            self.view = view
        }
    }
}
