import Foundation

/// The package of the tests.
enum Package {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../.."
    ).standardized
}
