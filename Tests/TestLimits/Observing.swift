import Foundation
import XCTest

/// Hears of the tests that begin and end, of both frameworks, without a word in the tests.
///
/// Called when the process starts, with the end of the pipe into which Swift Testing writes its
/// events, if it does.
@_cdecl("tether_watch_tests")
public func watchTests(_ isSwiftTesting: Bool, _ eventPipe: Int32) {
    if ProcessInfo.processInfo.environment["SWT_EXIT_TEST_ID"] != nil {
        // A process that ends as its test says, whose parent has a limit: this only sees to it that
        // none is left behind.
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

/// The events that Swift Testing writes for tools, one JSON object a line, into a pipe of this very
/// process.
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
