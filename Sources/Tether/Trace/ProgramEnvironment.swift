internal import COwnerLifetime
internal import Foundation

/// The variables of the environment that Tether follows, without a change of a program's code.
///
/// | Variable | Effect |
/// |---|---|
/// | `TETHER_AUDIT=exit` | prints the audit of the process at exit |
/// | `TETHER_TRACE=FILE` | writes a trace into a file |
///
/// A program with more rights than the user who started the program, such as a set-user-ID program,
/// follows neither.
enum ProgramEnvironment {
    /// Follows the variables, at the first call. Called before Tether makes a center, and before
    /// another center has an observer.
    static func followOnce() { isFollowed }

    private static let isFollowed: Void = {
        if variable("TETHER_AUDIT") == "exit" {
            atexit { printError("What is observed as the program ends:\n\(Audit.process())") }
        }
        if let path = variable("TETHER_TRACE"), !path.isEmpty {
            do { try Trace.start(to: URL(filePath: path)) } catch {
                printError("TETHER_TRACE: \(error)")
            }
        }
    }()

    private static func variable(_ name: String) -> String? {
        unsafe tether_environment_variable(name).map { unsafe String(cString: $0) }
    }
}
