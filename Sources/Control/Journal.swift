import Platform

/// The runtime overrides on the disk: an append-only file of checksummed lines.
///
/// A change is on the disk when `append` returns, and not in the file when it throws. A crash can
/// leave the last line torn; it was not acknowledged, and is dropped when the file is read. A second
/// process that opens the same folder is turned away.
public struct Journal: ~Copyable {
    private let folder: String
    private let lock: FileLock
    private var file: AppendFile
    /// How many lines the file has.
    private var lineCount: Int
    /// Something in the file is damaged, or may be: it is to be written anew.
    private var isDoubtful = false

    /// What a journal had to say when it was opened.
    public struct Contents: Sendable {
        /// What is set, the oldest first.
        public var overrides: [Override] = []
        /// What was damaged and left out, in sentences.
        public var warnings: [String] = []
    }

    private var path: String { "\(folder)/overrides.journal" }

    /// Opens the journal in a folder, which is made where it is not there.
    public init(in folder: String, contents: inout Contents) throws(ControlError) {
        let lock = try Journal.lock(folder)
        var file = try Journal.open(folder)
        let path = "\(folder)/overrides.journal"
        let replay: Replay
        do throws(FileError) {
            replay = Journal.replay(try File.octets(at: path), path: path)
        } catch {
            throw ControlError(.storage, "cannot read \(error)")
        }
        if replay.goodEnd < file.size { try? file.truncate(to: replay.goodEnd) }
        contents = replay.contents
        self.folder = folder
        self.lock = lock
        self.file = file
        lineCount = replay.lineCount
        isDoubtful = !replay.contents.warnings.isEmpty
        if isDoubtful { try? compact(contents.overrides) }
    }

    private static func lock(_ folder: String) throws(ControlError) -> FileLock {
        do throws(Errno) {
            try Folder.make(folder)
            // Now, and not when it is written anew for the first time.
            guard Folder.isWritable(folder) else { throw .permissionDenied }
            return try FileLock(at: "\(folder)/lock")
        } catch .wouldBlock {
            throw ControlError(
                .unavailable,
                "another detourd keeps its state in \(folder); give each a folder of its own"
            )
        } catch .permissionDenied {
            throw notPermitted(folder)
        } catch {
            throw ControlError(.storage, "cannot use the folder \(folder): \(error)")
        }
    }

    private static func open(_ folder: String) throws(ControlError) -> AppendFile {
        do throws(Errno) {
            let file = try AppendFile(at: "\(folder)/overrides.journal")
            // Also the entry of a file that was just made has to outlast a loss of power.
            try Folder.synchronize(folder)
            return file
        } catch .permissionDenied {
            throw notPermitted(folder)
        } catch .invalidArgument {
            throw ControlError(
                .storage,
                "\(folder)/overrides.journal is no ordinary file: nothing can be kept in it"
            )
        } catch {
            throw ControlError(.storage, "cannot open \(folder)/overrides.journal: \(error)")
        }
    }

    private static func notPermitted(_ folder: String) -> ControlError {
        let user = LocalPeer.name(ofUser: LocalPeer.ownUser)
        return ControlError(
            .notPermitted,
            "the user \(user) may not write the folder \(folder) and the files in it, where "
                + "overrides are kept; give them to it: chown -R \(user): \(folder)"
        )
    }

    /// What lines come to, one after the other.
    struct Replay {
        var contents = Contents()
        var lineCount = 0
        /// Where the torn last line begins, or the end.
        var goodEnd = 0
    }

    /// Reads a journal; never fails, whatever stands in it.
    static func replay(_ octets: [UInt8], path: String) -> Replay {
        var replay = Replay()
        var overrides: [Override.Key: (order: Int, override: Override)] = [:]
        var start = 0
        while start < octets.count {
            let newline = octets[start...].firstIndex(of: UInt8(ascii: "\n"))
            let end = newline ?? octets.count
            replay.lineCount += 1
            if newline != nil, let line = JournalLine(parsing: octets[start..<end]) {
                if let override = line.set {
                    overrides[override.key] = (replay.lineCount, override)
                } else if let key = line.unset {
                    overrides[key] = nil
                }
            } else {
                let isLast = end + 1 >= octets.count
                replay.contents.warnings.append(
                    "\(path):\(replay.lineCount): \(isLast ? "the last" : "a") line is damaged "
                        + "(\(end - start) octets) and left out"
                )
                if isLast {
                    replay.goodEnd = start
                    break
                }
            }
            start = end + 1
            replay.goodEnd = min(start, octets.count)
        }
        replay.contents.overrides = overrides.values.sorted { $0.order < $1.order }.map(\.override)
        return replay
    }

    /// Puts changes on the disk, all or none; `overrides` is what is set when they are done, which
    /// the file is reduced to when it has grown long.
    mutating func append(
        _ lines: [JournalLine],
        leaving overrides: [Override]
    ) throws(ControlError) {
        do throws(Errno) {
            if isDoubtful || lineCount + lines.count > Journal.mostLines {
                if isDoubtful || lineCount > 4 * overrides.count + 64 {
                    try compact(overrides)
                    return
                }
            }
            let size = file.size
            try file.append(lines.flatMap(\.octets))
            do throws(Errno) {
                try file.synchronize()
            } catch {
                // What the disk has now, nobody knows (fsync(2)).
                isDoubtful = true
                try? file.truncate(to: size)
                throw error
            }
            lineCount += lines.count
        } catch {
            let reason = error == .noSpace ? "the disk is full" : "\(error)"
            throw ControlError(
                .storage,
                "cannot write \(path): \(reason); nothing was changed, and all is served as before"
            )
        }
    }

    /// Below this, a file is short enough however little of it counts.
    private static let mostLines = 1_000

    /// Writes the file anew with what is set alone, and puts it in the old one's place.
    private mutating func compact(_ overrides: [Override]) throws(Errno) {
        let draft = path + ".new"
        do throws(Errno) {
            var new = try AppendFile(at: draft, emptied: true)
            try new.append(overrides.flatMap { JournalLine(set: $0).octets })
            try new.synchronize()
            try Folder.replace(path, with: draft)
            try Folder.synchronize(folder)
            file = new
        } catch {
            try? Folder.remove(draft)
            throw error
        }
        lineCount = overrides.count
        isDoubtful = false
    }
}
