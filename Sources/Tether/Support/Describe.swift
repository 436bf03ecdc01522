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

/// A number with its noun: "1 post", "2 posts".
package func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(plural ?? noun + "s")"
}

/// A program's text for a line of print: control characters, such as line breaks, are escaped. The
/// middle of a text of more than `limit` scalars is left out. A single character may have any
/// number of scalars.
package func printable(_ text: String, limit: Int = .max) -> String {
    // Most texts are printable ASCII. Reading each character's properties would take longest for
    // them.
    let isPlain = text.utf8.allSatisfy { 0x20..<0x7F ~= $0 }
    let escaped = isPlain ? text : escapingControls(text)
    let scalars = escaped.unicodeScalars
    guard escaped.utf8.count > limit, scalars.count > limit else { return escaped }
    let head = Substring(scalars.prefix(limit / 2))
    let tail = Substring(scalars.suffix((limit - 1) / 2))
    return "\(head)…\(tail)"
}

private func escapingControls(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
        let properties = scalar.properties
        let isControl = [.control, .lineSeparator, .paragraphSeparator].contains(
            properties.generalCategory)
        escaped +=
            isControl || properties.isBidiControl ? scalar.escaped(asASCII: true) : String(scalar)
    }
}
