import Foundation

/// Opens a gate when it ends.
final class Signalling: NSObject {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    deinit { gate.open() }
}
