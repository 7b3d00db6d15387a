import Foundation
import Platform
import Testing

@testable import Control

@Suite("The watch over files")
struct FileWatchTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "detour-watch-\(UUID().uuidString)").resolvingSymlinksInPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func check(_ value: Bool, _ expected: Bool, at place: SourceLocation = #_sourceLocation)
    {
        #expect(value == expected, sourceLocation: place)
    }

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test("sees a file written, and one moved in its place; not its neighbours")
    func files() throws {
        try withFolder { folder in
            try write("1", "\(folder)/a.zone")
            var watch = try FileWatch()
            watch.follow(["\(folder)/a.zone"])
            check(watch.hasChanges(), false)
            try write("x", "\(folder)/b.zone")
            check(watch.hasChanges(), false)
            try write("2", "\(folder)/a.zone")
            check(watch.hasChanges(), true)
            check(watch.hasChanges(), false)
            try Folder.replace("\(folder)/a.zone", with: "\(folder)/b.zone")
            check(watch.hasChanges(), true)
            watch.follow(["\(folder)/c.zone"])
            try write("3", "\(folder)/a.zone")
            check(watch.hasChanges(), false)
        }
    }

    @Test("sees a folder that went and is made again, and one that another is put in place of")
    func folders() throws {
        try withFolder { folder in
            let manager = FileManager.default
            let path = "\(folder)/zones/of/a.zone"
            func make() throws {
                try manager.createDirectory(
                    atPath: "\(folder)/zones/of",
                    withIntermediateDirectories: true
                )
                try write("1", path)
            }
            try make()
            var watch = try FileWatch()
            check(watch.follow([path]), true)
            check(watch.follow([path]), false)
            try manager.removeItem(atPath: "\(folder)/zones")
            check(watch.hasChanges(), true)
            check(watch.follow([path]), true)
            check(watch.hasChanges(), false)
            try make()
            check(watch.hasChanges(), true)
            // It may have been written before it is watched: whoever follows reads once more.
            check(watch.follow([path]), true)
            try write("2", path)
            check(watch.hasChanges(), true)
            try manager.moveItem(atPath: "\(folder)/zones/of", toPath: "\(folder)/zones/old")
            check(watch.hasChanges(), true)
            check(watch.follow([path]), true)
            try make()
            check(watch.hasChanges(), true)
        }
    }

    @Test("sees the link turned that Kubernetes keeps a ConfigMap behind")
    func configMap() throws {
        try withFolder { folder in
            let manager = FileManager.default
            for version in ["..1", "..2"] {
                try manager.createDirectory(
                    atPath: "\(folder)/\(version)",
                    withIntermediateDirectories: false
                )
                try write(version, "\(folder)/\(version)/a.zone")
            }
            try manager.createSymbolicLink(
                atPath: "\(folder)/..data",
                withDestinationPath: "..1"
            )
            try manager.createSymbolicLink(
                atPath: "\(folder)/a.zone",
                withDestinationPath: "..data/a.zone"
            )
            var watch = try FileWatch()
            watch.follow(["\(folder)/a.zone"])
            check(watch.hasChanges(), false)
            try manager.createSymbolicLink(
                atPath: "\(folder)/..new",
                withDestinationPath: "..2"
            )
            check(watch.hasChanges(), false)
            try Folder.replace("\(folder)/..data", with: "\(folder)/..new")
            check(watch.hasChanges(), true)
            watch.follow(["\(folder)/a.zone"])
            try write("3", "\(folder)/..2/a.zone")
            check(watch.hasChanges(), true)
        }
    }

    @Test("does not take links that lead to each other for a way")
    func loop() throws {
        try withFolder { folder in
            let manager = FileManager.default
            try manager.createSymbolicLink(atPath: "\(folder)/a", withDestinationPath: "b")
            try manager.createSymbolicLink(atPath: "\(folder)/b", withDestinationPath: "a")
            #expect(FileWatch.places(of: "\(folder)/a/x").count < 50)
        }
    }
}
