#if os(Linux)

import Foundation
import Testing

/// The toolchain's language server, which completes code as an editor does.
struct LanguageServer {
    /// An entry of a completion, in the order in which an editor shows them.
    struct Entry: Sendable, CustomStringConvertible {
        let description: String
        fileprivate let rank: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// The entries behind the last expression of a file, which is compiled by a command.
    static func completion(of source: String, compiler: Compiler) throws -> [Entry] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "Tether-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Snippet.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let command: [String: Any] = [
            "directory": folder.path, "file": file.path,
            "arguments": compiler.command(for: file),
        ]
        try JSONSerialization.data(withJSONObject: [command])
            .write(to: folder.appending(path: "compile_commands.json"))
        let server = try LanguageServer(compiler.tool("sourcekit-lsp"), in: folder)
        defer { server.process.terminate() }
        return try server.complete(source, of: file, in: folder)
    }

    private init(_ tool: URL, in folder: URL) throws {
        process.executableURL = tool
        process.currentDirectoryURL = folder
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    private func complete(_ source: String, of file: URL, in folder: URL) throws -> [Entry] {
        _ = try request(
            1, "initialize",
            ["rootUri": "file://" + folder.path, "capabilities": [String: Any]()])
        try send(["method": "initialized", "params": [String: Any]()])
        let document = "file://" + file.path
        try send([
            "method": "textDocument/didOpen",
            "params": [
                "textDocument": [
                    "uri": document, "languageId": "swift", "version": 1, "text": source,
                ]
            ],
        ])
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let answer = try request(
            2, "textDocument/completion",
            [
                "textDocument": ["uri": document],
                "position": ["line": lines.count - 1, "character": lines.last?.count ?? 0],
            ])
        let items = try #require(answer["items"] as? [[String: Any]])
        return items.map { item in
            Entry(
                description: item["label"] as? String ?? "",
                rank: item["sortText"] as? String ?? "")
        }
        .sorted { $0.rank < $1.rank }
    }

    // MARK: Messages

    private func send(_ message: [String: Any]) throws {
        let versioned = message.merging(["jsonrpc": "2.0"]) { old, _ in old }
        let body = try JSONSerialization.data(withJSONObject: versioned)
        let head = Data("Content-Length: \(body.count)\r\n\r\n".utf8)
        try input.fileHandleForWriting.write(contentsOf: head + body)
    }

    /// The result of a request. Other messages of the server are passed over, and its requests
    /// answered with nothing.
    private func request(
        _ id: Int, _ method: String, _ parameters: [String: Any]
    ) throws -> [String: Any] {
        try send(["id": id, "method": method, "params": parameters])
        while true {
            let message = try receive()
            if message["method"] != nil {
                if let asked = message["id"] { try send(["id": asked, "result": NSNull()]) }
            } else if message["id"] as? Int == id {
                return try #require(message["result"] as? [String: Any], "\(message)")
            }
        }
    }

    private func receive() throws -> [String: Any] {
        var length = 0
        while true {
            let line = try readLine()
            if line.isEmpty { break }
            if line.hasPrefix("Content-Length: ") { length = Int(line.dropFirst(16)) ?? 0 }
        }
        let body = try read(length)
        return try #require(JSONSerialization.jsonObject(with: body) as? [String: Any])
    }

    private func readLine() throws -> String {
        var line = Data()
        while true {
            let byte = try read(1)
            if byte == Data("\n".utf8) {
                return String(decoding: line, as: UTF8.self).replacing("\r", with: "")
            }
            line += byte
        }
    }

    /// Reads some bytes. An end of the output fails the test.
    private func read(_ count: Int) throws -> Data {
        var data = Data()
        while data.count < count {
            let more = try output.fileHandleForReading.read(upToCount: count - data.count)
            data += try #require(more, "the language server has ended")
        }
        return data
    }
}

#endif
