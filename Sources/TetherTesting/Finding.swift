internal import Foundation
internal import Tether

/// A finding of a verification, and the place where it is to be mended.
package struct Finding: Sendable {
    package let message: String
    package let site: Site
    /// The picture of what holds it.
    package let picture: Diagram

    /// Writes the finding to the standard error, as a compiler would.
    package func print() {
        // Without the throwing form a closed standard error would stop the program.
        try? FileHandle.standardError.write(contentsOf: Data("\(site): warning: \(message)\n".utf8))
    }

    /// Tells of the finding while the program runs: in the test that is running, or else on the standard error.
    func tell() {
        if FindingRecorders.tests?.record(self) != true { print() }
    }
}

/// A place in the source: `Module/File.swift`, and a line.
package struct Site: Sendable, CustomStringConvertible {
    package let file: String
    package let line: Int

    package var description: String { "\(file):\(line)" }
}

/// The way in which findings are recorded in the tests of a framework.
package protocol FindingRecorder: SendableMetatype {
    /// Records a finding in the test that is running; false if none is.
    static func record(_ finding: Finding) -> Bool
}

enum FindingRecorders {
    /// The one of `TetherVerification`, which programs that are no tests do not link: it is looked up when it is needed,
    /// so that this module needs no framework for tests.
    static let tests = _typeByName("18TetherVerification12TestRecorderO") as? any FindingRecorder.Type
}
