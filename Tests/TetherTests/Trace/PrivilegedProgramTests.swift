#if os(Linux)

import Foundation
import Testing

/// A program with more rights than its user. Only the superuser can make such a program here.
@Suite(.enabled(if: getuid() == 0)) struct PrivilegedProgramTests {
    /// Runs a program unchanged, or as the set-user-ID program of another user.
    private func run(isPrivileged: Bool) throws -> (errors: String, hasTrace: Bool) {
        let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appending(path: "program")
        let products = try #require(Bundle.main.executableURL).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        // Another process writes the program. Otherwise a child process of another test might
        // inherit the open descriptor, and a program that is open for writing cannot be started.
        let original = products.appending(path: "Coalescing")
        let copying = try Process.run(
            URL(filePath: "/bin/cp"), arguments: [original.path, program.path])
        copying.waitUntilExit()
        #expect(copying.terminationStatus == 0)
        let nobody: uid_t = 65_534
        if isPrivileged {
            #expect(unsafe chmod(folder.path, 0o777) == 0)
            #expect(unsafe chown(program.path, nobody, nobody) == 0)
            #expect(unsafe chmod(program.path, 0o4755) == 0)
        }
        let trace = folder.appending(path: "trace.json")
        let process = Process()
        let errors = Pipe()
        process.executableURL = program
        process.environment = ["TETHER_AUDIT": "exit", "TETHER_TRACE": trace.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let hasTrace = FileManager.default.fileExists(atPath: trace.path)
        return (String(decoding: said, as: UTF8.self), hasTrace)
    }

    @Test func `L5 L1 a set-user-ID program follows no variable of the environment`() throws {
        let plain = try run(isPrivileged: false)
        #expect(plain.errors.contains("What is observed") && plain.hasTrace)
        let privileged = try run(isPrivileged: true)
        #expect(privileged == ("", false))
    }
}

#endif
