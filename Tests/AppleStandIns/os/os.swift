// The used parts of Apple's signposts, with Apple's signatures.
//
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public final class OSLog: Sendable {
    public struct Category: Sendable {
        public static let pointsOfInterest = Category()
    }

    public convenience init(subsystem: String, category: Category) { self.init() }
    public var signpostsEnabled: Bool { false }
}

public struct OSSignpostType: Sendable {
    public static let (begin, end, event) = (OSSignpostType(), OSSignpostType(), OSSignpostType())
}

public struct OSSignpostID: Sendable {
    public init(_ value: UInt64) {}
}

/// The arguments that Apple's `os_signpost` can format. `String` is a `CVarArg` in Linux's
/// Foundation only.
public protocol SignpostArgument: CVarArg {}
extension Int: SignpostArgument {}
extension UnsafePointer: SignpostArgument {}

public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer = #dsohandle, log: OSLog, name: StaticString,
    signpostID: OSSignpostID, _ format: StaticString, _ arguments: any SignpostArgument...
) {}
