// swift-tools-version: 6.3
import PackageDescription

// A package of its own, because it needs a build of Tether with `-D TETHER_INTERLEAVING`. SwiftPM
// tells packages apart by their folders' names, so this name must differ from that of the clone.
let package = Package(
    name: "Interleavings",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Tether", path: "../..")],
    targets: [
        .executableTarget(
            name: "Interleavings", dependencies: [.product(name: "Tether", package: "Tether")],
            path: ".")
    ],
    // One thread runs at a time, which the compiler cannot know.
    swiftLanguageModes: [.v5]
)
