#if !canImport(ObjectiveC)

package import CoreFoundation
package import Foundation

extension RunLoop.Mode {
    /// The mode as CoreFoundation has it, which tells the common modes by the identity of their name.
    package var cfMode: CFRunLoopMode {
        // SAFETY: the C string is the conversion's own, for the call.
        self == .common ? kCFRunLoopCommonModes : unsafe CFStringCreateWithCString(nil, rawValue, utf8)
    }
}

/// A run loop mode's name, as it is called where the Objective-C runtime is.
package typealias CFRunLoopMode = CFString

private let utf8 = CFStringBuiltInEncodings.UTF8.rawValue

#endif
