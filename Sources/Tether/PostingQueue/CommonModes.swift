internal import CoreFoundation
internal import Foundation

/// The common modes of a run loop, which CoreFoundation does not tell: an observer is in all of them, and is never called.
///
/// One for all posting queues of the loop, because each observer that a loop has makes every other one dearer to add.
///
/// SAFETY: nothing varies; CoreFoundation's run loop functions used here may be called from any thread.
final class CommonModes: @unchecked Sendable {
    private let loop: CFRunLoop
    private let probe: CFRunLoopObserver

    private static let known = Guarded<[ObjectIdentifier: WeakModes]>([:])

    private struct WeakModes: Sendable { weak var modes: CommonModes? }

    static func of(_ loop: CFRunLoop) -> CommonModes {
        known.withLock { known in
            if let modes = known[ObjectIdentifier(loop)]?.modes { return modes }
            let made = CommonModes(loop)
            known[ObjectIdentifier(loop)] = WeakModes(modes: made)
            return made
        }
    }

    private init(_ loop: CFRunLoop) {
        self.loop = loop
        // Not covered: the callback; an observer of no activities is not called.
        probe = unsafe CFRunLoopObserverCreate(nil, 0, true, 0, { _, _, _ in }, nil)
        CFRunLoopAddObserver(loop, probe, RunLoop.Mode.common.cfMode)
    }

    deinit {
        CFRunLoopObserverInvalidate(probe)
        let identity = ObjectIdentifier(loop)
        // Another one may have been made since this was let go. If it is found here, this may be its last holder by now, so it is
        // let go outside the lock.
        let other = CommonModes.known.withLock { known in
            let other = known[identity]?.modes
            if other == nil { known[identity] = nil }
            return other
        }
        withExtendedLifetime(other) {}
    }

    func contains(_ mode: RunLoop.Mode) -> Bool { CFRunLoopContainsObserver(loop, probe, mode.cfMode) }
}
