import Dispatch
import Foundation

/// The tests that are running, and when something last happened to any of them.
struct RunningTests {
    private var names: [String: Int] = [:]
    private(set) var lastEvent = DispatchTime.now()

    /// The names of those that are running.
    var running: [String] { names.keys.sorted() }

    mutating func begin(_ name: String) {
        names[name, default: 0] += 1
        lastEvent = .now()
    }

    mutating func end(_ name: String) {
        let left = (names[name] ?? 1) - 1
        names[name] = left > 0 ? left : nil
        lastEvent = .now()
    }

    /// A test case began or ended.
    mutating func progress() { lastEvent = .now() }

    /// The names, if all of these tests have been running for so long without anything happening.
    func overdue(after limit: TimeInterval) -> [String]? {
        guard !names.isEmpty else { return nil }
        let passed =
            Double(DispatchTime.now().uptimeNanoseconds - lastEvent.uptimeNanoseconds) / 1e9
        return passed > limit ? running : nil
    }
}
