import Foundation
import Testing

@testable import TetherVerification

/// The path of a leak's file, of which the registration knows the module and the name.
@Suite struct SourcePathsTests {
    @Test func `L2 a file is found in its module, in a package of the module's name`() throws {
        let package = FileManager.default.temporaryDirectory
            .appending(path: "SourcePathsTests-\(UUID())/Library")
        defer { try? FileManager.default.removeItem(at: package.deletingLastPathComponent()) }
        for file in [
            "Package.swift", "Sources/Library/Support.swift", "Tests/LibraryTests/Support.swift",
        ] {
            let path = package.appending(path: file)
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: path)
        }
        let found = SourcePaths.path(
            of: "Library/Support.swift",
            near: package.appending(path: "Tests/LibraryTests/Test.swift").path)
        #expect(found?.hasSuffix("/Library/Sources/Library/Support.swift") == true)
    }
}
