import Foundation

/// The package that these tests are part of.
enum Package {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../.."
    ).standardized
}
