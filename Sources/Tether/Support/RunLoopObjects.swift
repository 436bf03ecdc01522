package import CoreFoundation
package import Foundation

#if !canImport(ObjectiveC)
/// The name of a mode, as the type is called where the Objective-C runtime is.
package typealias CFRunLoopMode = CFString
#endif

extension RunLoop.Mode {
    /// The mode for CoreFoundation, which recognises the common modes by the identity of their
    /// name.
    package var cfMode: CFRunLoopMode {
        // SAFETY: the conversion provides the C string for the duration of the call.
        let name = unsafe CFStringCreateWithCString(
            nil, rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
        #if canImport(ObjectiveC)
        return self == .common ? .commonModes : CFRunLoopMode(rawValue: name!)
        #else
        return self == .common ? kCFRunLoopCommonModes : name!
        #endif
    }
}

/// A source without signals, which keeps a run loop from exiting, and perhaps an observer, in the
/// same modes.
///
/// SAFETY: the properties are constants, and any thread may call the functions of CoreFoundation
/// used here.
package final class RunLoopHold: @unchecked Sendable {
    private let loop: CFRunLoop
    private let source: CFRunLoopSource
    private let observer: CFRunLoopObserver?

    // Activities of a run loop by number, because with C++ interoperability `CFRunLoopActivity` is
    // an integer.
    package static let entry: CFOptionFlags = 1
    package static let beforeTimers: CFOptionFlags = 2
    package static let beforeWaiting: CFOptionFlags = 32
    package static let exit: CFOptionFlags = 128

    /// Adds both to a run loop, until `invalidate`. The observer calls an action in some
    /// activities, by `order`.
    package init(
        _ loop: CFRunLoop, in modes: Set<RunLoop.Mode>, observing activities: CFOptionFlags = 0,
        order: CFIndex = 0,
        _ action: ((CFOptionFlags) -> Void)? = nil
    ) {
        self.loop = loop
        var context = unsafe CFRunLoopSourceContext()
        // Without this, CoreFoundation takes sources with equal functions and the same `info` for
        // one.
        unsafe context.equal = { _, _ in false }
        unsafe context.perform = { _ in }
        source = unsafe CFRunLoopSourceCreate(nil, 0, &context)
        observer = action.flatMap { action in
            // SAFETY: the cast checks the size.
            CFRunLoopObserverCreateWithHandler(nil, activities, true, order) {
                unsafe action(unsafeBitCast($1, to: CFOptionFlags.self))
            }
        }
        add(to: modes)
    }

    /// Adds both to further modes.
    package func add(to modes: Set<RunLoop.Mode>) {
        for mode in modes {
            if let observer { CFRunLoopAddObserver(loop, observer, mode.cfMode) }
            CFRunLoopAddSource(loop, source, mode.cfMode)
        }
    }

    /// Whether the source is in a mode, perhaps as in all common modes.
    package func isIn(_ mode: RunLoop.Mode) -> Bool {
        CFRunLoopContainsSource(loop, source, mode.cfMode)
    }

    /// Removes both. A waiting loop must be woken to notice an empty list of sources.
    package func invalidate() {
        if let observer { CFRunLoopObserverInvalidate(observer) }
        CFRunLoopSourceInvalidate(source)
    }
}
