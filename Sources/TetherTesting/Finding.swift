internal import Foundation
internal import Tether

/// A finding of a verification, with the place of the repair.
package struct Finding: Sendable {
    package let message: String
    package let site: Site
    package let picture: Diagram

    /// The message becomes one line: names in it come from a program.
    init(message: String, site: Site, picture: Diagram) {
        self.message = printable(message)
        self.site = site
        self.picture = picture
    }

    /// The first holder, the thing left behind, and the place of the repair. Like findings have
    /// equal ones.
    fileprivate var kind: [String] {
        let holder = picture.boxes.first?.lines ?? []
        let left = picture.boxes.last?.lines ?? []
        return holder + left + ["\(site)"]
    }

    /// Writes the finding to the standard error, in the form of a compiler's warning.
    package func print() {
        // Without the throwing form a closed standard error would stop the program.
        try? FileHandle.standardError.write(contentsOf: Data("\(site): warning: \(message)\n".utf8))
    }

    /// Reports the finding while the program runs: in the running test, or else on the standard
    /// error.
    func report() {
        if FindingRecorders.tests?.record(self) != true { print() }
    }
}

extension [Finding] {
    /// The first one of like findings, with their number.
    func counted() -> [Finding] {
        let counts = Dictionary(map { ($0.kind, 1) }, uniquingKeysWith: +)
        var seen: Set<[String]> = []
        return filter { seen.insert($0.kind).inserted }.map { finding in
            let alike = counts[finding.kind, default: 1]
            let message = finding.message + (alike == 1 ? "" : " (\(alike) alike)")
            return Finding(message: message, site: finding.site, picture: finding.picture)
        }
    }
}

/// A place in the source: `Module/File.swift`, and a line.
package struct Site: Sendable, CustomStringConvertible {
    package let file: String
    package let line: Int

    package var description: String { "\(file):\(line)" }
}

/// A recorder of findings in the tests of one framework.
package protocol FindingRecorder: SendableMetatype {
    /// Records a finding in the running test; false if no test is running.
    static func record(_ finding: Finding) -> Bool
}

enum FindingRecorders {
    /// The recorder of `TetherVerification`; `nil` in programs without that module. The look-up by
    /// name keeps frameworks for tests out of this module.
    static let tests =
        _typeByName("18TetherVerification12TestRecorderO") as? any FindingRecorder.Type
}
