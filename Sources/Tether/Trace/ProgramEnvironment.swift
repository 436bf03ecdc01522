internal import Foundation

/// The variables of the environment that Tether follows, without a change of a program's code.
///
/// | Variable | Effect |
/// |---|---|
/// | `TETHER_AUDIT=exit` | prints the audit of the process at exit |
/// | `TETHER_TRACE=FILE` | writes a trace into a file; ignored with more rights than the starting user's |
enum ProgramEnvironment {
    /// Evaluated before Tether makes the first center, and before another center has an observer.
    static let isFollowed: Void = {
        let variables = ProcessInfo.processInfo.environment
        if variables["TETHER_AUDIT"] == "exit" {
            atexit { printError("What is observed as the program ends:\n\(Audit.process())") }
        }
        if let path = variables["TETHER_TRACE"], !path.isEmpty, getuid() == geteuid(),
            getgid() == getegid()
        {
            do { try Trace.start(to: URL(filePath: path)) } catch {
                printError("TETHER_TRACE: \(error)")
            }
        }
    }()
}
