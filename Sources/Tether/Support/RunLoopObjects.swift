package import CoreFoundation
package import Foundation
internal import Synchronization

// CoreFoundation's objects of run loops, as Tether makes them by hand.

#if canImport(ObjectiveC)
extension RunLoop.Mode {
    /// The mode for CoreFoundation, which recognises the common modes by the identity of their name.
    package var cfMode: CFRunLoopMode { self == .common ? .commonModes : CFRunLoopMode(rawValue: cfString(rawValue)) }
}
#else
/// The name of a mode, as the type is called where the Objective-C runtime is.
package typealias CFRunLoopMode = CFString

extension RunLoop.Mode {
    /// The mode for CoreFoundation, which recognises the common modes by the identity of their name.
    package var cfMode: CFRunLoopMode { self == .common ? kCFRunLoopCommonModes : cfString(rawValue) }
}
#endif

private func cfString(_ string: String) -> CFString {
    // SAFETY: the C string is the conversion's own, for the call.
    unsafe CFStringCreateWithCString(nil, string, CFStringBuiltInEncodings.UTF8.rawValue)
}

/// Makes a source that is never signalled. A run loop that has it does not end.
package func makeIdleRunLoopSource() -> CFRunLoopSource {
    var context = unsafe CFRunLoopSourceContext()
    // CoreFoundation compares sources by their `info`, so each gets a number of its own. The numbers are below zero, where no
    // address is.
    // SAFETY: nothing reads through it.
    unsafe context.info = .init(bitPattern: lastInfo.wrappingAdd(1, ordering: .relaxed).newValue)
    unsafe context.perform = { _ in }
    return unsafe CFRunLoopSourceCreate(nil, 0, &context)
}

private let lastInfo = Atomic<Int>(.min)
