#if canImport(ObjectiveC)

package import CoreFoundation
package import Foundation

extension RunLoop.Mode {
    /// The mode as CoreFoundation has it, which tells the common modes by the identity of their name.
    package var cfMode: CFRunLoopMode {
        // SAFETY: the C string is the conversion's own, for the call.
        self == .common
            ? .commonModes : CFRunLoopMode(rawValue: unsafe CFStringCreateWithCString(nil, rawValue, utf8))
    }
}

private let utf8 = CFStringBuiltInEncodings.UTF8.rawValue

#endif
