package import CoreFoundation
package import Foundation
internal import Synchronization

// CoreFoundation's run loop objects, made by hand.

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
    // SAFETY: the conversion provides the C string for the duration of the call.
    unsafe CFStringCreateWithCString(nil, string, CFStringBuiltInEncodings.UTF8.rawValue)
}

/// Makes a source without signals. A run loop with the source does not exit.
package func makeIdleRunLoopSource() -> CFRunLoopSource {
    var context = unsafe CFRunLoopSourceContext()
    // CoreFoundation compares sources by `info`, so each source gets a number of its own. The numbers are negative, so
    // no number is an address.
    // SAFETY: nothing reads through `info`.
    unsafe context.info = .init(bitPattern: lastInfo.wrappingAdd(1, ordering: .relaxed).newValue)
    unsafe context.perform = { _ in }
    return unsafe CFRunLoopSourceCreate(nil, 0, &context)
}

private let lastInfo = Atomic<Int>(.min)
