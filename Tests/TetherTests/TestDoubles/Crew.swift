import Foundation
import Testing

/// A thread that runs one body, and can be waited for.
final class Crew: Sendable {
    private let finished = Turnstile()

    init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [finished] in
            body()
            finished.open()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }

    /// Waits until the body has returned.
    func join(sourceLocation: SourceLocation = #_sourceLocation) { finished.pass(sourceLocation: sourceLocation) }

    /// Runs a body on several threads at a time, and waits for all.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let crew = (0..<count).map { number in Crew { body(number) } }
        for member in crew { member.join() }
    }
}
