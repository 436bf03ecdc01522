/// A shared word of memory, with the methods of Swift's `Atomic`.
struct Location {
    typealias Number = Int

    private static var made = 0

    let name: String
    let initial: Int
    let number: Number

    init(_ name: String, initially initial: Int = 0) {
        self.name = name
        self.initial = initial
        number = Location.made
        Location.made += 1
    }

    /// Loads the word. `pointer`: the source of the word's address, if it was computed.
    func load(_ order: Order, through pointer: Value? = nil) -> Value {
        Run.current.read(self, order, through: pointer, where: { _ in true })
    }

    /// Loads the word repeatedly until it has a value.
    func await(_ value: Int, _ order: Order) -> Value {
        Run.current.read(self, order, through: nil, where: { $0 == value })
    }

    func store(_ value: Value, _ order: Order, through pointer: Value? = nil) {
        Run.current.write(value, to: self, order, through: pointer)
    }

    /// Changes the word in one step. Returns the old value.
    @discardableResult
    func exchange(_ order: Order, _ change: (Value) -> Value) -> Value {
        let old = Run.current.read(self, order.ofRead, through: nil, where: { _ in true })
        Run.current.complete(self, with: change(old), order.ofWrite)
        return old
    }

    @discardableResult
    func wrappingAdd(_ number: Int, _ order: Order) -> Value { exchange(order) { $0 + number } }

    /// Changes the word if it is as expected. Returns whether it was.
    func compareExchange(expected: Int, desired: Int, _ order: Order) -> Bool {
        let old = Run.current.read(self, order.ofRead, through: nil, where: { _ in true })
        Run.current.complete(
            self, with: old.number == expected ? Value(desired) : nil, order.ofWrite)
        return old == expected
    }
}

/// A lock, such as `Locked` is.
struct Lock {
    private let word: Location

    /// `isHeld`: whether a thread holds the lock at the start, and unlocks it later.
    init(_ name: String, isHeld: Bool = false) {
        word = Location(name, initially: isHeld ? 1 : 0)
    }

    func lock() {
        _ = Run.current.read(word, .acquiring, through: nil, where: { $0 == 0 })
        Run.current.complete(word, with: 1, .relaxed)
    }

    func unlock() { word.store(0, .releasing) }

    func withLock(_ body: () -> Void) {
        lock()
        body()
        unlock()
    }
}

extension Order {
    /// The orders of the halves of a read-modify-write.
    fileprivate var ofRead: Order {
        switch self {
        case .sequentiallyConsistent: self
        default: acquires ? .acquiring : .relaxed
        }
    }

    fileprivate var ofWrite: Order {
        switch self {
        case .sequentiallyConsistent: self
        default: releases ? .releasing : .relaxed
        }
    }
}
