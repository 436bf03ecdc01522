// swift-tools-version: 6.3
import PackageDescription

// Linux: glibc, on x86-64; on ARM64 under emulation. Not tried: Android, musl, FreeBSD. Does not
// build: Windows, WASI.
let package = Package(
    name: "Tether",
    platforms: [
        .macOS(.v15), .macCatalyst(.v18), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2),
    ],
    products: [
        .library(name: "Tether", targets: ["Tether"]),
        // For a program and its dynamic libraries, which would each have a copy of Tether.
        .library(name: "TetherDynamic", type: .dynamic, targets: ["Tether"]),
        .library(name: "TetherTesting", targets: ["TetherTesting"]),
        .library(name: "TetherVerification", targets: ["TetherVerification"]),
    ],
    targets: [
        .target(name: "COwnerLifetime"),
        .target(name: "Tether", dependencies: ["COwnerLifetime"]),
        .target(name: "CProcessMemory"),
        .target(name: "TetherTesting", dependencies: ["Tether", "CProcessMemory"]),
        .target(name: "TetherVerification", dependencies: ["TetherTesting"]),
        .testTarget(
            name: "TetherTests",
            dependencies: [
                "Tether", "TetherTesting", "TetherVerification", "COwnerLifetime", "CAllocations",
                "TestLimits",
            ],
            exclude: [
                "Compiler/WrongLeakChecks.txt", "Compiler/WrongPrograms.txt",
                "TestDoubles/README.md",
            ]),
        .testTarget(
            name: "TetherTestingTests",
            dependencies: ["Tether", "TetherTesting", "TetherVerification", "TestLimits"]),
        .target(name: "CTestLimits", path: "Tests/CTestLimits"),
        .target(name: "TestLimits", dependencies: ["CTestLimits"], path: "Tests/TestLimits"),
        .target(name: "CAllocations", path: "Tests/Tools/CAllocations"),
        // Programs to run from this folder: SwiftPM makes no product of them for a package that
        // depends on Tether. A package of their own would build the library a second time, and take
        // `swift run Tour` and the tests of two examples away from the first commands of a clone.
        .executableTarget(
            name: "Tour", dependencies: ["Tether", "TetherTesting"], path: "Examples/Tour"),
        .executableTarget(
            name: "Coalescing", dependencies: ["Tether"], path: "Examples/Coalescing"),
        .executableTarget(
            name: "ThreadDelivery", dependencies: ["Tether"], path: "Examples/ThreadDelivery"),
        .executableTarget(
            name: "FolderWatch", dependencies: ["Tether"], path: "Examples/FolderWatch"),
        .executableTarget(
            name: "ChatServer", dependencies: ["Tether"], path: "Examples/ChatServer"),
        .executableTarget(
            name: "Notes", dependencies: ["Tether"], path: "Examples/Notes", exclude: ["Tests"]),
        .testTarget(
            name: "NotesTests", dependencies: ["Notes", "Tether", "TetherVerification"],
            path: "Examples/Notes/Tests"),
        .executableTarget(
            name: "BookList", dependencies: ["Tether"], path: "Examples/BookList",
            exclude: ["Tests"]),
        .testTarget(
            name: "BookListTests", dependencies: ["BookList", "Tether", "TetherVerification"],
            path: "Examples/BookList/Tests"),
        .executableTarget(
            name: "TypedMessages", dependencies: ["Tether"], path: "Examples/TypedMessages"),
        .executableTarget(name: "Trace", dependencies: ["Tether"], path: "Examples/Trace"),
        .executableTarget(
            name: "AsyncSequences", dependencies: ["Tether"], path: "Examples/AsyncSequences"),
        .executableTarget(
            name: "Connection", dependencies: ["Tether"], path: "Examples/Connection"),
        .executableTarget(
            name: "OwnedTasks", dependencies: ["Tether"], path: "Examples/OwnedTasks"),
        .executableTarget(
            name: "Holders", dependencies: ["Tether", "TetherTesting"], path: "Examples/Holders"),
        .executableTarget(
            name: "LeakFreedom", dependencies: ["Tether", "TetherTesting"],
            path: "Examples/LeakFreedom"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets
where !["COwnerLifetime", "CProcessMemory", "CAllocations", "CTestLimits"].contains(target.name) {
    target.swiftSettings = [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
        .strictMemorySafety(),
    ]
}

// A package that depends on Tether sees the libraries alone: SwiftPM and Xcode keep dependencies in
// a folder of this name.
if Context.packageDirectory.contains("/checkouts/") {
    package.targets.removeAll {
        $0.type == .executable || $0.path?.hasPrefix("Examples/") == true
    }
}

// ThreadSanitizer and optimized builds notice nothing more in tests of one thread, or of the
// compiler. `.ci/run` therefore builds the other tests alone for them.
if Context.environment["TETHER_TESTS"] == "threads" {
    let tests = package.targets.first { $0.name == "TetherTests" }
    tests?.exclude += [
        "Audit", "Compiler", "Core/Matching", "Documentation", "Messages", "OtherCenters",
        "PostingQueue", "Support", "Trace",
    ]
    package.targets.removeAll { target in
        target.name == "TetherTestingTests"
            || target.path?.hasPrefix("Examples/") == true && target.name != "Tour"
    }
}
