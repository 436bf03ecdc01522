import Foundation

/// Opens a gate when it ends.
final class Signalling: NSObject {
    private let gate: Latch

    init(_ gate: Latch) { self.gate = gate }

    deinit { gate.open() }
}
