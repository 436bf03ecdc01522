package import Foundation

/// An observed name in words.
package func describeName(_ name: Notification.Name?) -> String { name?.rawValue ?? "any name" }

/// An object's type and address, without a call of the object's own `description`.
func describeInstance(_ object: AnyObject) -> String {
    describeInstance(of: "\(type(of: object))", at: ObjectIdentifier(object))
}

/// The type and address of an object, which may be deallocated.
func describeInstance(of type: String, at identity: ObjectIdentifier) -> String {
    "\(type) 0x\(String(UInt(bitPattern: identity), radix: 16))"
}

/// Prints to the standard error, which may be closed.
func printError(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
}

/// The calling thread for people. Foundation on Linux knows the name of no other thread.
func describeCurrentThread() -> String {
    Thread.isMainThread
        ? "the main thread"
        : Thread.current.name.map { "thread \($0)" } ?? "a thread without a name"
}
