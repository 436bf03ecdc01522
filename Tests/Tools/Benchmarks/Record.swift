import Foundation

/// The figures of the pages: for each row, of several full runs the one with the median ratio, and
/// where they were measured.
///
/// `medians.json` beside this file keeps them. The tables of README.md here, the three pictures, the
/// words for one of them on two pages and the sentences with figures on one are written from it, so
/// all say the same.
struct Record: Codable {
    /// As "Medians of 3 full runs: AMD EPYC, 2 processors, Linux, Swift 6.3.1, November 2026".
    let origin: String
    let rows: [Row]

    /// The medians of runs. Rows stand in the order of the first run.
    init(of runs: [[Row]]) {
        rows = (runs.first ?? []).map { row in
            let same = runs.flatMap { $0 }.filter { $0.name == row.name && $0.unit == row.unit }
            return same.sorted { $0.ratio < $1.ratio }[same.count / 2]
        }
        let date = Date.now.formatted(
            .dateTime.month(.wide).year().locale(Locale(identifier: "en")))
        let machine = "\(Record.processor), \(Record.system), \(Record.compiler), \(date)"
        origin = "Medians of \(runs.count) full runs: \(machine)"
    }

    // MARK: Files

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let package = folder.appending(path: "../../..").standardized
    private static let file = folder.appending(path: "medians.json")

    static func read() throws -> Record {
        try JSONDecoder().decode(Record.self, from: Data(contentsOf: file))
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: Record.file)
    }

    /// Writes the figures into the pages, and draws the pictures. Returns the names of the rows
    /// that no table has.
    func publish() throws -> [String] {
        try Chart.write(
            rows, from: origin,
            to: Record.package.appending(path: "Sources/Tether/Tether.docc"))
        let words = Chart.costsInWords(rows)
        let pages = ["README.md", "Sources/Tether/Tether.docc/WhatItCosts.md"]
        for page in pages {
            try Record.change(Record.package.appending(path: page)) { line in
                guard !words.isEmpty, line.hasPrefix("!["), line.hasSuffix("costs.svg)"),
                    let bracket = line.lastIndex(of: "]")
                else { return Sentences.renewed(line, from: rows) }
                return "![\(words)\(line[bracket...])"
            }
        }
        let lines = Dictionary(rows.map { ($0.name, $0.tableLine) }, uniquingKeysWith: { $1 })
        var found: Set<String> = []
        try Record.change(Record.folder.appending(path: "README.md")) { line in
            if line.hasPrefix("Medians of ") { return "\(origin)." }
            let cells = line.split(separator: "|")
            guard line.hasPrefix("| "), let first = cells.first else { return line }
            let name = first.trimmingCharacters(in: .whitespaces)
            guard let new = lines[name] else { return line }
            found.insert(name)
            return new
        }
        return rows.map(\.name).filter { !found.contains($0) }
    }

    private static func change(_ file: URL, _ change: (String) -> String) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try lines.map { change(String($0)) }.joined(separator: "\n")
            .write(to: file, atomically: true, encoding: .utf8)
    }

    // MARK: The machine

    private static var processor: String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = lines.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
        return "\(name ?? "unknown processor"), \(ProcessInfo.processInfo.processorCount) cores"
    }

    private static var system: String {
        #if os(Linux)
        "Linux"
        #else
        ProcessInfo.processInfo.operatingSystemVersionString
        #endif
    }

    /// The version of the compiler that `swiftc` starts.
    private static var compiler: String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swiftc", "--version"]
        process.standardOutput = output
        guard (try? process.run()) != nil else { return "Swift" }
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.firstMatch(of: #/Swift version ([0-9.]+)/#).map { "Swift \($0.1)" } ?? "Swift"
    }
}

extension Row {
    /// The row in a table of README.md.
    fileprivate var tableLine: String {
        let digits = ratio < 0.1 ? "%.3f" : "%.2f"
        let text = "| \(name) | \(String(format: digits, ratio)) x \(reference) | "
        guard let goal else { return text + "none |" }
        return text + "\(String(format: "%g", goal)), \(isMet ? "met" : "missed") |"
    }
}
