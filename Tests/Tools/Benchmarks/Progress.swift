import Foundation

/// Which row runs and how long the rest may take, on a terminal only.
struct Progress {
    private let count: Int
    private let begin = Date()
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(of count: Int) { self.count = count }

    func show(_ name: String, at index: Int) {
        guard isTerminal else { return }
        let rest =
            index == 0
            ? ""
            : ", \(Int(-begin.timeIntervalSinceNow / Double(index) * Double(count - index))) s left"
        write("\u{1B}[2K\r\(index + 1) of \(count)\(rest): \(name)\r")
    }

    func clear() { if isTerminal { write("\u{1B}[2K\r") } }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
