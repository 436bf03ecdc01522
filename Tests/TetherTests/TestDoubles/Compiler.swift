#if os(Linux)

import Foundation
import Testing

/// The compiler that built the tests, for facts about compilation.
struct Compiler {
    private let executable: URL
    private let products: URL
    private let options: [String]

    struct NotFound: Error {}

    /// Finds the compiler, for a language mode and more options. The code may import the modules of
    /// the tests.
    init(mode: Int = 6, options: [String] = [], importingTests: Bool = false) throws {
        let candidates = Compiler.besideTheRuntime() + Compiler.inPath()
        guard
            let found = candidates.first(where: {
                FileManager.default.isExecutableFile(atPath: $0.path)
            }),
            let binary = Bundle.main.executableURL
        else { throw NotFound() }
        executable = found
        products = binary.resolvingSymlinksInPath().deletingLastPathComponent()
        let toolchain = found.resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent()
        let forTests = [
            "-I", toolchain.appending(path: "lib/swift/linux/testing").path,
            "-plugin-path", toolchain.appending(path: "lib/swift/host/plugins/testing").path,
            "-Xcc",
            "-fmodule-map-file=\(products.appending(path: "CProcessMemory.build/module.modulemap").path)",
        ]
        self.options = ["-swift-version", "\(mode)"] + options + (importingTests ? forTests : [])
    }

    /// The compiler of the toolchain whose runtime this process has loaded.
    private static func besideTheRuntime() -> [URL] {
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        return maps.split(separator: "\n").compactMap { line in
            guard let start = line.firstIndex(of: "/"),
                let end = line.range(of: "/lib/swift/linux/libswiftCore.so")
            else {
                return nil
            }
            return URL(filePath: String(line[start..<end.lowerBound])).appending(path: "bin/swiftc")
        }
    }

    private static func inPath() -> [URL] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map {
            URL(filePath: String($0)).appending(path: "swiftc")
        }
    }

    /// The compiler's messages for a main.swift, which may import Tether and has code at the top
    /// level.
    func diagnostics(of source: String, isMain: Bool = false) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "Tether-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: isMain ? "main.swift" : "Snippet.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)

        // Not `-typecheck`, which does not check the values sent between isolations.
        return try run(
            executable,
            ["-emit-sil", "-o", folder.appending(path: "Snippet.sil").path, file.path]
                + (isMain ? [] : ["-parse-as-library"]) + options)
    }

    /// A tool of the compiler's toolchain.
    func tool(_ name: String) -> URL {
        executable.deletingLastPathComponent().appending(path: name)
    }

    /// The command that compiles a file with `import Tether`.
    func command(for file: URL) -> [String] {
        [executable.path] + modules + options + ["-parse-as-library", file.path]
    }

    /// The options with the paths of the build's modules.
    private var modules: [String] {
        [
            "-I", products.appending(path: "Modules").path,
            "-Xcc",
            "-fmodule-map-file=\(products.appending(path: "COwnerLifetime.build/module.modulemap").path)",
            "-module-cache-path", products.appending(path: "ModuleCache").path,
        ]
    }

    /// Runs a tool with the paths of the build's modules. Returns the tool's output.
    private func run(_ tool: URL, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = tool
        process.arguments = modules + arguments
        let output = Pipe()
        process.standardError = output
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }
}

#endif
