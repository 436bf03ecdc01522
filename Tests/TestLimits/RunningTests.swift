import Dispatch
import Foundation

/// The running tests, and the time of the last event.
struct RunningTests {
    private var names: [String: Int] = [:]
    private(set) var lastEvent = DispatchTime.now()

    /// The names of the running tests.
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

    /// The names, if all of the tests have been running for the limit without an event.
    func overdue(after limit: TimeInterval) -> [String]? {
        guard !names.isEmpty else { return nil }
        let passed =
            Double(DispatchTime.now().uptimeNanoseconds - lastEvent.uptimeNanoseconds) / 1e9
        return passed > limit ? running : nil
    }
}
