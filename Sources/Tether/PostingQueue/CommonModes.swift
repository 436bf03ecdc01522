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
    private let whenUnused: @Sendable () -> Void

    private static let known = SharedObjects<ObjectIdentifier, CommonModes>()

    static func of(_ loop: CFRunLoop) -> CommonModes {
        known.object(of: ObjectIdentifier(loop)) { CommonModes(loop, whenUnused: $0) }
    }

    private init(_ loop: CFRunLoop, whenUnused: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.whenUnused = whenUnused
        // Not covered: the callback; an observer of no activities is not called.
        probe = unsafe CFRunLoopObserverCreate(nil, 0, true, 0, { _, _, _ in }, nil)
        CFRunLoopAddObserver(loop, probe, RunLoop.Mode.common.cfMode)
    }

    deinit {
        CFRunLoopObserverInvalidate(probe)
        whenUnused()
    }

    func contains(_ mode: RunLoop.Mode) -> Bool { CFRunLoopContainsObserver(loop, probe, mode.cfMode) }
}
