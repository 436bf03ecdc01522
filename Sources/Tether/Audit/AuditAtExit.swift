internal import Foundation

/// `TETHER_AUDIT=exit` in the environment: a program that ends by itself prints what is observed then.
enum AuditAtExit {
    /// Asked for by every center of Tether's own, and by every observer of another one, so that it is settled before there is
    /// an observer.
    static let isAskedFor: Bool = {
        guard ProcessInfo.processInfo.environment["TETHER_AUDIT"] == "exit" else { return false }
        // Not covered: at the end of a process; AuditAtExitTests run one.
        atexit {
            let title = "What is observed as the program ends:\n"
            // Without the throwing form a closed standard error would stop the program.
            try? FileHandle.standardError.write(contentsOf: Data("\(title)\(Audit.process())\n".utf8))
        }
        // Not covered: as above.
        return true
    }()
}
