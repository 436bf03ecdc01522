// swift-tools-version: 6.3
import PackageDescription

// Programs that measure and check Tether, in a package of their own, so that `swift test` of the
// library does not build them:
//
//     swift run --package-path Tests/Tools -c release Litmus
let package = Package(
    name: "TetherTools",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Tether", path: "../..")],
    targets: [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                .product(name: "Tether", package: "Tether"),
                .product(name: "TetherTesting", package: "Tether"), "CAllocations",
            ],
            path: "Benchmarks", exclude: ["README.md", "medians.json", "type-checking"]),
        .executableTarget(
            name: "HookSafety", dependencies: [.product(name: "Tether", package: "Tether")],
            path: "HookSafety", exclude: ["Library"]),
        // The checker has one thread.
        .executableTarget(
            name: "Litmus", path: "Litmus", exclude: ["README.md"],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .executableTarget(
            name: "Smoke", dependencies: [.product(name: "Tether", package: "Tether")],
            path: "Smoke"),
        .executableTarget(
            name: "Soak", dependencies: [.product(name: "Tether", package: "Tether")],
            path: "Soak"),
        .target(name: "CAllocations", path: "CAllocations"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "CAllocations" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .strictMemorySafety(),
        ]
}
