/// Spreads the bits of an address. The upper bits of the product are well mixed: `ObjectTable`
/// takes the highest for its shards, and `chainHash` those below.
func mixedBits(ofAddress address: UInt) -> UInt64 {
    UInt64(Interleaving.number(ofAddress: address)) &* 0x9E37_79B9_7F4A_7C15
}

/// The hash of an address for `HashChains`.
func chainHash(ofAddress address: UInt) -> UInt {
    UInt(truncatingIfNeeded: mixedBits(ofAddress: address) >> 28)
}

/// An element of at most one `HashChains`. Only the table changes `next`.
protocol Chained: AnyObject, SendableMetatype {
    /// Well mixed in the lower bits, and constant while the element is in a table.
    var hash: UInt { get }
    var next: Self? { get set }
}

/// A hash table whose chains run through the elements, so an element needs no other memory.
///
/// The table grows and shrinks by *linear hashing*: one chain at a time. A new last chain takes its
/// elements from the chain whose number lacks the highest bit. When the last chain is removed, its
/// elements return to the other chain. So no insertion or removal rehashes all elements. A change
/// of the array's capacity moves 8 bytes for each chain.
///
/// There are 4 chains; above 4, one to two for each element. Every operation but a move of the
/// array is O(1) expected.
struct HashChains<Element: Chained> {
    private static var smallest: Int { 4 }
    private(set) var count = 0
    private var chains = ContiguousArray<Element?>(repeating: nil, count: HashChains.smallest)
    /// The hash bits that number the chains: the least power of two not below the number of chains,
    /// less 1.
    private var mask = UInt(HashChains.smallest - 1)

    /// The number of a hash's chain. The elements of a missing chain are in the chain without the
    /// highest bit.
    private func chain(of hash: UInt) -> Int {
        let number = Int(hash & mask)
        return number < chains.count ? number : Int(hash & (mask >> 1))
    }

    /// The element with a hash and a true `isWanted`, not retained: the table retains its elements.
    @inline(__always)
    func find(_ hash: UInt, where isWanted: (Element) -> Bool) -> Unmanaged<Element>? {
        // SAFETY: a chain holds its elements.
        var element = unsafe chains[chain(of: hash)].map(Unmanaged.passUnretained)
        while let known = unsafe element {
            let (isFound, next) = unsafe known._withUnsafeGuaranteedRef {
                unsafe (isWanted($0), $0.next.map(Unmanaged.passUnretained))
            }
            if isFound { return unsafe known }
            unsafe element = next
        }
        return nil
    }

    /// All elements, in no order.
    var elements: [Element] {
        chains.compactMap(\.self).flatMap { sequence(first: $0, next: \.next) }
    }

    @discardableResult
    mutating func insert(_ element: consuming Element) -> Unmanaged<Element> {
        // SAFETY: from here on, the chain retains the element.
        let unmanaged = unsafe Unmanaged.passUnretained(element)
        link(element)
        count += 1
        if count > chains.count { addChain() }
        checkInvariants()
        return unsafe unmanaged
    }

    /// Removes an element. Returns the table's reference to the element, or `nil` if the element is
    /// not in the table.
    mutating func remove(_ element: Element) -> Element? {
        let chain = chain(of: element.hash)
        let removed: Element?
        if chains[chain] === element {
            removed = chains[chain].take()
            chains[chain] = element.next.take()
        } else {
            var previous = chains[chain]
            while let known = previous, known.next !== element { previous = known.next }
            guard let previous else { return nil }
            removed = previous.next.take()
            previous.next = element.next.take()
        }
        count -= 1
        // Twice, so the number of chains follows the number of elements.
        for _ in 0..<2 where chains.count > max(HashChains.smallest, 2 * count) { removeChain() }
        checkInvariants()
        return removed
    }

    private mutating func link(_ element: consuming Element) {
        let chain = chain(of: element.hash)
        swap(&element.next, &chains[chain])
        chains[chain] = element
    }

    private mutating func relink(_ first: consuming Element?) {
        var rest = first
        while let element = rest {
            rest = element.next.take()
            link(element)
        }
    }

    private mutating func addChain() {
        chains.append(nil)
        if chains.count - 1 > mask { mask = mask << 1 | 1 }
        relink(chains[(chains.count - 1) & Int(mask >> 1)].take())
    }

    private mutating func removeChain() {
        let last = chains.removeLast()
        if chains.count - 1 <= mask >> 1 { mask >>= 1 }
        relink(last)
        guard chains.capacity > 4 * chains.count else { return }
        // Moved, because a copy would retain each element.
        var smaller = ContiguousArray<Element?>()
        smaller.reserveCapacity(chains.count)
        for index in chains.indices { smaller.append(chains[index].take()) }
        chains = smaller
    }

    /// Checks, in debug builds, that `count` counts the elements, and that each element is in the
    /// chain of its hash.
    func checkInvariants() {
        #if DEBUG
        guard chains.count <= checkedSize else { return }
        assert(elements.count == count, "A hash table's count differs from its elements.")
        for number in chains.indices {
            var next = chains[number]
            while let element = next {
                let isFound = chain(of: element.hash) == number
                assert(isFound, "An element of a hash table is in the wrong chain.")
                next = element.next
            }
        }
        #endif
    }
}

extension HashChains: Sendable where Element: Sendable {}
