/// A number that a thread has read or computed, and the reads that it was computed from.
struct Value: ExpressibleByIntegerLiteral {
    let number: Int
    /// The thread's reads, one bit each, that the number depends on.
    let sources: UInt64

    init(_ number: Int, from sources: UInt64 = 0) {
        self.number = number
        self.sources = sources
    }

    init(integerLiteral number: Int) { self.init(number) }

    static func + (value: Value, number: Int) -> Value {
        Value(value.number + number, from: value.sources)
    }
    static func - (value: Value, number: Int) -> Value {
        Value(value.number - number, from: value.sources)
    }

    // A comparison is for a branch: the thread's later accesses depend on the result.

    static func == (value: Value, number: Int) -> Bool {
        Run.current.branch(on: value)
        return value.number == number
    }

    static func != (value: Value, number: Int) -> Bool { !(value == number) }

    static func > (value: Value, number: Int) -> Bool {
        Run.current.branch(on: value)
        return value.number > number
    }

    static func >= (value: Value, other: Value) -> Bool {
        Run.current.branch(on: value)
        Run.current.branch(on: other)
        return value.number >= other.number
    }
}
