internal import Synchronization

/// Whether a block is calling an observer's handler, so that two blocks never call it at the same
/// time. Calls by a post or an unmuting are not recorded.
///
/// *States*: idle; running; running, and the return is awaited. The return of a handler is the hot
/// path, and should not take the lock of the mailbox. So the return ends the call with
/// one compare-exchange, unless the block has another delivery to make, or somebody has work for
/// the moment after the call: another block, a switch, the observer's end, a leak check.
///
/// ```
///          begin(false)                  endUnlessAwaited: true, or end()
///   idle ───────────▶ running ────────────────────────────────────▶ idle
///                        │ awaitReturnIfRunning: true
///                        ▼               endUnlessAwaited: false, then end() under the lock
///   idle ───────────▶ awaited ────────────────────────────────────▶ idle
///          begin(true)
/// ```
///
/// After the observer's end nothing begins, and the bits stay as they are. *Awaited* here is by
/// work under the lock; threads that wait for a handler are in `HandlerWait`.
///
/// *Protocol*: `begin`, `awaitReturnIfRunning` and `end` are called under the lock;
/// `endUnlessAwaited` is called by the thread of the call, without the lock. Of
/// `awaitReturnIfRunning` and `endUnlessAwaited` one comes first. Either the return finds the
/// request and takes the lock, or the request finds no call and its caller does the work itself. In
/// both cases the work is done once, after the handler's last access: each exchange acquires and
/// releases. Tests/Tools/Litmus/Protocols/Returning.swift checks all interleavings.
///
/// *Cost*: a byte beside the lock. One load and one store at the begin of a call, one exchange at
/// its end.
struct HandlerExecution: ~Copyable, Sendable {
    private let bits = Atomic<UInt8>(0)
    private static let running: UInt8 = 1
    private static let awaited: UInt8 = 2

    /// Begins a call. `awaited`: whether work waits for the return already. Such work does not call
    /// `awaitReturnIfRunning` again. Called under the lock, while no call is under way.
    @inline(__always)
    func begin(awaited: Bool) {
        if awaited {
            bits.store(Self.running | Self.awaited, ordering: .releasing)
        } else {
            bits.store(Self.running, ordering: .releasing)
        }
    }

    /// Ends a call without the lock. Returns false if the return is awaited: the caller then takes
    /// the lock and calls `end`.
    @inline(__always)
    func endUnlessAwaited() -> Bool {
        bits.compareExchange(expected: Self.running, desired: 0, ordering: .acquiringAndReleasing)
            .exchanged
    }

    /// Ends a call under the lock: an awaited one, or one whose block has another delivery to make.
    func end() { bits.store(0, ordering: .releasing) }

    /// Has the return of a running handler take the lock. Returns whether a handler runs; otherwise
    /// nothing is requested. Called under the lock.
    func awaitReturnIfRunning() -> Bool {
        // Nearly always no handler runs, and none begins under the caller's lock.
        if bits.load(ordering: .acquiring) == 0 { return false }
        let old = bits.bitwiseOr(Self.awaited, ordering: .acquiringAndReleasing).oldValue
        if old & Self.running != 0 {
            return true
        }
        bits.store(0, ordering: .releasing)
        return false
    }
}
