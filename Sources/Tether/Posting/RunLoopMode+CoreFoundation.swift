internal import CoreFoundation
internal import Foundation

extension RunLoop.Mode {
    /// The mode's name as CoreFoundation has it, which tells the common modes by the identity of their name.
    var cfMode: CFRunLoopMode {
        self == .common ? kCFRunLoopCommonModes : unsafe CFStringCreateWithCString(nil, rawValue, utf8)
    }
}

#if !canImport(ObjectiveC)
/// A run loop mode's name, as it is called where the Objective-C runtime is.
typealias CFRunLoopMode = CFString
#endif

private let utf8 = CFStringBuiltInEncodings.UTF8.rawValue
