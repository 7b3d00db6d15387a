import Platform

/// Watches the files of the configuration and the zones for being replaced.
///
/// What is watched are directories, and in them the entries that lead to a file: its own, and that of
/// each symbolic link on the way. So it is noticed when an editor moves a new file in the old one's
/// place, when a link is turned to another release, and when Kubernetes replaces `..data`.
struct FileWatch: ~Copyable {
    private let watch: DirectoryWatch
    /// The entries that matter, by directory number.
    private var entries: [Int32: Set<String>] = [:]
    private var directories: [Int32: String] = [:]
    /// Directories that we may not read, and so not watch.
    private(set) var closed: Set<String> = []

    init() throws(Errno) { watch = try DirectoryWatch() }

    func add(to poller: borrowing Poller, as token: Poller.Token) throws(Errno) {
        try poller.add(watch.descriptor, for: .readable, as: token)
    }

    /// Watches these files from now on, and no others; gives whether there are directories among
    /// theirs that were not watched before, where something may have happened meanwhile. For a
    /// directory that is not there, the one in which it would be is watched.
    @discardableResult
    mutating func follow(_ paths: some Sequence<String>) -> Bool {
        var followed: [Int32: Set<String>] = [:]
        var numbers: [String: Int32] = [:]
        closed = []
        for wanted in Set(paths.flatMap { FileWatch.places(of: $0) }) {
            var place = wanted
            guard let number = watched(&place, known: numbers) else { continue }
            numbers[place.directory] = number
            followed[number, default: []].insert(place.name)
        }
        let isMore = followed.keys.contains { entries[$0] == nil }
        for number in entries.keys where followed[number] == nil { watch.remove(number) }
        entries = followed
        directories = Dictionary(
            numbers.map { ($0.value, $0.key) },
            uniquingKeysWith: { first, _ in first }
        )
        return isMore
    }

    private mutating func watched(_ place: inout Place, known: [String: Int32]) -> Int32? {
        while true {
            if let number = known[place.directory] { return number }
            do throws(Errno) {
                return try watch.add(place.directory)
            } catch {
                if error == .permissionDenied { closed.insert(place.directory) }
                guard error == .noSuchFile, let above = place.above else { return nil }
                place = above
            }
        }
    }

    /// Whether anything has happened that may have changed a file.
    mutating func hasChanges() -> Bool {
        var isChanged = false
        for event in watch.events() {
            if event.directory < 0 {
                // Events were lost: anything may have happened.
                isChanged = true
            } else if let names = entries[event.directory] {
                if event.isEnd { entries[event.directory] = nil }
                // An event without a name is the directory's: it has gone, or is elsewhere.
                if event.name.isEmpty || names.contains(event.name) && isComplete(event) {
                    isChanged = true
                }
            }
        }
        return isChanged
    }

    /// A file that was just made has nothing in it yet: its writer will close it. A link is complete,
    /// and a directory nobody closes.
    private func isComplete(_ event: DirectoryWatch.Event) -> Bool {
        guard event.isNew, !event.isDirectory, let directory = directories[event.directory] else {
            return true
        }
        return Folder.target(ofLink: "\(directory)/\(event.name)") != nil
    }

    /// An entry of a directory.
    struct Place: Hashable {
        let directory: String
        let name: String

        /// The directory's own entry; nil for one that is in no other.
        var above: Place? {
            guard let slash = directory.lastIndex(of: "/"), directory != "/" else { return nil }
            let parent = directory[..<slash]
            return Place(
                directory: parent.isEmpty ? "/" : String(parent),
                name: String(directory[directory.index(after: slash)...])
            )
        }
    }

    /// The entries that lead to the file at a path.
    static func places(of path: String) -> [Place] {
        var places: [Place] = []
        var rest = path.split(separator: "/").map(String.init)
        var walked = path.hasPrefix("/") ? "/" : "."
        // As many links as the kernel follows.
        var links = 0
        while !rest.isEmpty {
            let name = rest.removeFirst()
            let next = walked == "/" ? "/" + name : "\(walked)/\(name)"
            if let target = Folder.target(ofLink: next), links < 40 {
                links += 1
                places.append(Place(directory: walked, name: name))
                if target.hasPrefix("/") { walked = "/" }
                rest = target.split(separator: "/").map(String.init) + rest
            } else {
                if rest.isEmpty { places.append(Place(directory: walked, name: name)) }
                walked = next
            }
        }
        return places
    }
}
