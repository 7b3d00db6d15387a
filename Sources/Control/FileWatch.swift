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

    /// Watches these files from now on, and no others. Directories that are not there are left out.
    mutating func follow(_ paths: some Sequence<String>) {
        var followed: [Int32: Set<String>] = [:]
        var numbers: [String: Int32] = [:]
        closed = []
        for place in Set(paths.flatMap { FileWatch.places(of: $0) }) {
            guard let number = numbers[place.directory] ?? watched(place.directory) else {
                continue
            }
            numbers[place.directory] = number
            followed[number, default: []].insert(place.name)
        }
        for number in entries.keys where followed[number] == nil { watch.remove(number) }
        entries = followed
        directories = Dictionary(
            numbers.map { ($0.value, $0.key) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private mutating func watched(_ directory: String) -> Int32? {
        do throws(Errno) {
            return try watch.add(directory)
        } catch {
            if error == .permissionDenied { closed.insert(directory) }
            return nil
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
                if event.isEnd || names.contains(event.name) && isComplete(event) {
                    isChanged = true
                }
            }
        }
        return isChanged
    }

    /// A file that was just made has nothing in it yet: its writer will close it. A link is complete.
    private func isComplete(_ event: DirectoryWatch.Event) -> Bool {
        guard event.isNew, let directory = directories[event.directory] else { return true }
        return Folder.target(ofLink: "\(directory)/\(event.name)") != nil
    }

    /// An entry of a directory.
    struct Place: Hashable {
        let directory: String
        let name: String
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
