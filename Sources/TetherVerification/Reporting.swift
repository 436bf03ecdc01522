internal import Foundation
internal import Testing
internal import Tether
internal import TetherTesting
internal import XCTest

extension LeakTracker.Verdict {
    /// Records every finding once: at the finding's line, or at the test if the file is not on this
    /// machine.
    func report(at test: SourceLocation) {
        guard Test.current != nil else {
            for finding in findings { finding.recordInXCTest(of: test) }
            for finding in unattributed { finding.print() }
            return
        }
        for finding in findings { finding.recordInSwiftTesting(of: test) }
        for finding in unattributed {
            let place = finding.site.sourceLocation(in: test)
            Issue.record(
                Comment(rawValue: finding.message), severity: .warning, sourceLocation: place)
        }
    }
}

extension Finding {
    /// Records the finding in Swift Testing, as an issue.
    func recordInSwiftTesting(of test: SourceLocation) {
        Issue.record(Comment(rawValue: message), sourceLocation: site.sourceLocation(in: test))
        // `swift test --attachments-path` writes the attachment into a folder.
        guard picture.hasPath else { return }
        let file = site.file.split(separator: "/").last ?? "leak"
        Attachment.record(picture.svg, named: "\(file)-\(site.line).svg", sourceLocation: test)
    }

    /// Records the finding in XCTest, as a failure.
    fileprivate func recordInXCTest(of test: SourceLocation) {
        let place = site.sourceLocation(in: test)
        XCTFail(message, file: StaticString(forEver: place.filePath), line: UInt(place.line))
    }
}

/// Records the findings of a running test in Swift Testing.
///
/// `TetherTesting` looks up the type by name.
enum TestRecorder: FindingRecorder {
    static func record(_ finding: Finding) -> Bool {
        guard let test = Test.current else { return false }
        finding.recordInSwiftTesting(of: test.sourceLocation)
        return true
    }
}

extension Site {
    /// The place with the path of the file; the place of the test, if the file is not on this
    /// machine.
    fileprivate func sourceLocation(in test: SourceLocation) -> SourceLocation {
        guard let path = SourcePaths.path(of: file, near: test.filePath) else { return test }
        return SourceLocation(fileID: file, filePath: path, line: max(1, line), column: 1)
    }
}

extension StaticString {
    /// A string that is never freed, because XCTest takes a file name only as a `StaticString`.
    fileprivate init(forEver string: String) {
        // The frozen layout of a StaticString with a pointer; the flags say whether the string is
        // pure ASCII.
        struct Layout {
            let start: UInt
            let count: UInt
            let flags: UInt8
        }
        let bytes = Array(string.utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count + 1)
        _ = unsafe copy.initialize(from: bytes + [0])
        let layout = Layout(
            start: UInt(bitPattern: copy.baseAddress), count: UInt(bytes.count),
            flags: bytes.allSatisfy { $0 < 0x80 } ? 2 : 0)
        // SAFETY: `Layout` is the frozen layout of StaticString; the copy is never freed.
        self = unsafe unsafeBitCast(layout, to: StaticString.self)
    }
}
