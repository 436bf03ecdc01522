internal import Foundation
internal import Testing
internal import TetherTesting
internal import XCTest

/// What came of a verification, for the framework that runs the test.
struct Verdict {
    let findings: [Finding]
    let unattributed: [Finding]

    /// Records every finding at its own place, and all together where the test is.
    func report(at test: TestSite) {
        if Test.current != nil { return report(at: test.sourceLocation) }
        for finding in findings { finding.recordInXCTest() }
        for finding in unattributed { finding.print() }
        if !findings.isEmpty { XCTFail(summary, file: test.filePath, line: test.line) }
    }

    /// As `report(at:)`, in Swift Testing.
    func report(at test: SourceLocation) {
        for finding in findings { finding.recordInSwiftTesting() }
        for finding in unattributed { finding.warnInSwiftTesting() }
        if !findings.isEmpty { Issue.record(Comment(rawValue: summary), sourceLocation: test) }
    }

    private var summary: String {
        let things = findings.count == 1 ? "1 thing" : "\(findings.count) things"
        return "leaves behind \(things) that should have gone:\n"
            + findings.map { "- \($0.message)" }.joined(separator: "\n")
    }
}

/// Where a test stands in the source.
struct TestSite {
    let fileID: StaticString
    let filePath: StaticString
    let line: UInt
    let column: UInt

    fileprivate var sourceLocation: SourceLocation {
        SourceLocation(fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
    }
}

extension Finding {
    /// Records the finding in Swift Testing, as an issue at its own place.
    func recordInSwiftTesting() {
        Issue.record(Comment(rawValue: message), sourceLocation: site.sourceLocation)
    }

    /// As `recordInSwiftTesting()`, as an issue that fails no test, which Swift Testing has since Swift 6.3.
    func warnInSwiftTesting() {
        #if compiler(>=6.3)
        Issue.record(Comment(rawValue: message), severity: .warning, sourceLocation: site.sourceLocation)
        #else
        print()
        #endif
    }

    /// Records the finding in XCTest, as a failure at its own place.
    func recordInXCTest() {
        XCTFail(message, file: site.literal, line: UInt(site.line))
    }
}

/// Records in Swift Testing what is found while a test runs.
///
/// `TetherTesting` looks it up by its name.
enum TestRecorder: FindingRecorder {
    static func record(_ finding: Finding) -> Bool {
        guard Test.current != nil else { return false }
        finding.recordInSwiftTesting()
        return true
    }
}

extension Site {
    /// The file as XCTest wants it, which never goes.
    fileprivate var literal: StaticString {
        // The frozen layout of StaticString, for one with a pointer; its flags say whether all of it is ASCII.
        struct Layout {
            let start: UInt
            let count: UInt
            let flags: UInt8
        }
        let bytes = Array(file.utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count + 1)
        _ = unsafe copy.initialize(from: bytes + [0])
        let layout = Layout(
            start: UInt(bitPattern: copy.baseAddress), count: UInt(bytes.count),
            flags: bytes.allSatisfy { $0 < 0x80 } ? 2 : 0)
        // SAFETY: the same layout; the copy is never freed.
        return unsafe unsafeBitCast(layout, to: StaticString.self)
    }

    fileprivate var sourceLocation: SourceLocation {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        // A registration does not know its path on disk: it is taken to be in the test's folder, if it is of its module.
        var folder = ""
        if let test = Test.current?.sourceLocation, file.hasPrefix(test.moduleName + "/") {
            folder = test.filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().map { $0 + "/" }
                .joined()
        }
        return SourceLocation(
            fileID: file.contains("/") ? file : "Unknown/\(name)", filePath: folder + name, line: max(1, line),
            column: 1)
    }
}
