import Foundation
import XCTest

/// Observes the beginnings and ends of tests, of both frameworks, without code in the tests.
///
/// Called when the process starts, with the reading end of the pipe of Swift Testing's events, if
/// any.
@_cdecl("tether_watch_tests")
public func watchTests(_ isSwiftTesting: Bool, _ eventPipe: Int32) {
    if ProcessInfo.processInfo.environment["SWT_EXIT_TEST_ID"] != nil {
        // The process of an exit test. Its parent has a limit, so the limit here only prevents an
        // abandoned process.
        if Watchdog.shared.limit > 0 { _ = alarm(UInt32(clamping: Int(Watchdog.shared.limit) * 2)) }
        return
    }
    if eventPipe >= 0 {
        Watchdog.shared.isHearing = true
        EventStream.read(eventPipe)
    }
    if !isSwiftTesting { XCTestObservationCenter.shared.addTestObserver(Observer()) }
    Watchdog.shared.start()
}

private final class Observer: NSObject, XCTestObservation {
    func testCaseWillStart(_ testCase: XCTestCase) {
        let name = testCase.name
        Watchdog.shared.update { $0.begin(name) }
    }

    func testCaseDidFinish(_ testCase: XCTestCase) {
        let name = testCase.name
        Watchdog.shared.update { $0.end(name) }
    }
}

/// The events of Swift Testing for tools, as lines with a JSON object, in a pipe of the process.
private enum EventStream {
    static func read(_ pipe: Int32) {
        let thread = Thread { read(FileHandle(fileDescriptor: pipe)) }
        thread.name = "test events"
        thread.start()
    }

    private static func read(_ handle: FileHandle) {
        var functions: Set<String> = []
        var rest = Data()
        while true {
            let data = handle.availableData
            if data.isEmpty { return }
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                take(rest[..<end], &functions)
                rest = Data(rest[(end + 1)...])
            }
        }
    }

    private static func take(_ line: Data, _ functions: inout Set<String>) {
        guard let record = try? JSONSerialization.jsonObject(with: line) as? [String: Any],
            let payload = record["payload"] as? [String: Any], let kind = payload["kind"] as? String
        else { return }
        let id = payload["testID"] as? String ?? ""
        switch kind {
        case "function": functions.insert(payload["id"] as? String ?? "")
        case "testStarted" where functions.contains(id): Watchdog.shared.update { $0.begin(id) }
        case "testEnded" where functions.contains(id): Watchdog.shared.update { $0.end(id) }
        case "testSkipped", "testCancelled": Watchdog.shared.update { $0.end(id) }
        default: Watchdog.shared.update { $0.progress() }
        }
    }
}
