extension Configuration.Cache {
    enum Key: String, SettingKey {
        case bytes, staleFor, minimumTTL, maximumTTL
    }

    init(_ setting: Setting, _ decoding: inout Decoding) {
        self.init()
        guard let section = setting.section(Key.self, &decoding) else { return }
        octets = section[.bytes]?.octets(&decoding, atLeast: 1 << 20) ?? octets
        staleFor = section[.staleFor]?.seconds(&decoding) ?? staleFor
        minimumTTL = section[.minimumTTL]?.seconds(&decoding, upTo: 86_400) ?? minimumTTL
        maximumTTL = section[.maximumTTL]?.seconds(&decoding) ?? maximumTTL
        if minimumTTL > maximumTTL, let setting = section[.minimumTTL] {
            decoding.reject(setting, "it is above maximumTTL, \(maximumTTL) seconds")
        }
    }
}

extension Configuration.Log {
    enum Key: String, SettingKey {
        case queries, format
    }

    init(_ setting: Setting, _ decoding: inout Decoding) {
        self.init()
        guard let section = setting.section(Key.self, &decoding) else { return }
        queries = section[.queries]?.choice(Queries.self, &decoding) ?? queries
        format = section[.format]?.choice(Format.self, &decoding)
    }
}

extension Configuration.Chaos {
    enum Key: String, SettingKey {
        case version, id
    }

    init(_ setting: Setting, _ decoding: inout Decoding) {
        self.init()
        guard let section = setting.section(Key.self, &decoding) else { return }
        version = section[.version]?.characterString(&decoding)
        id = section[.id]?.characterString(&decoding)
    }
}
