package import Foundation

/// A copy of a value's bytes, with its type: for looking into the value, and keeping nothing that it refers to.
package struct ValueBytes: Sendable {
    package let type: Any.Type
    package let bytes: [UInt8]

    package init<Value>(of value: Value) {
        type = Value.self
        // SAFETY: the bytes are copied while the value lives.
        bytes = unsafe withUnsafeBytes(of: value) { unsafe [UInt8]($0) }
    }

    // In structs, so that the functions keep their forms.
    private struct Function { let function: @Sendable (Notification) -> Void }
    private struct OwnedFunction { let function: @Sendable (AnyObject, Notification) -> Void }

    /// Those of a handler that takes the notification alone.
    package static func plain(_ handler: @escaping @Sendable (Notification) -> Void) -> ValueBytes {
        ValueBytes(of: Function(function: handler))
    }

    /// Those of a handler that takes its owner, too.
    package static func owned(_ handler: @escaping @Sendable (AnyObject, Notification) -> Void) -> ValueBytes {
        ValueBytes(of: OwnedFunction(function: handler))
    }
}
