/// Records by their objects' identities: a hash table whose chains go through the records, so that an owner that comes
/// and goes costs no memory but its record's, and a look-up a multiplication.
struct OwnerRecords {
    private static let smallestBits: UInt64 = 3
    /// The bits of the hash that chose the table.
    let usedBits: UInt64
    private var bits = OwnerRecords.smallestBits
    private var chains = ContiguousArray<OwnerRecord?>(repeating: nil, count: 1 << OwnerRecords.smallestBits)
    private(set) var count = 0

    var chainCount: Int { chains.count }

    init(usedBits: UInt64) {
        self.usedBits = usedBits
    }

    /// Addresses are spread by a multiplication; the upper bits of the result are the good ones.
    static func hash(_ identity: ObjectIdentifier) -> UInt64 {
        UInt64(UInt(bitPattern: identity)) &* 0x9E37_79B9_7F4A_7C15
    }

    private func chain(of identity: ObjectIdentifier) -> Int {
        Int(truncatingIfNeeded: (OwnerRecords.hash(identity) &<< usedBits) &>> (64 &- bits))
    }

    /// Complexity: O(1) expected.
    subscript(identity: ObjectIdentifier) -> OwnerRecord? { unsafe find(identity)?.takeUnretainedValue() }

    /// The same, not retained: this holds it until it is taken out.
    func find(_ identity: ObjectIdentifier) -> Unmanaged<OwnerRecord>? {
        // SAFETY: a chain holds its records.
        var record = unsafe chains[chain(of: identity)].map(Unmanaged.passUnretained)
        while let known = unsafe record {
            let (isFound, next) = unsafe known._withUnsafeGuaranteedRef {
                unsafe ($0.identity == identity, $0.next.map(Unmanaged.passUnretained))
            }
            if isFound { return unsafe known }
            unsafe record = next
        }
        return nil
    }

    /// Takes a record in whose object has none; returns it, not retained. Complexity: O(1) amortised.
    @discardableResult
    mutating func insert(_ record: consuming OwnerRecord) -> Unmanaged<OwnerRecord> {
        // SAFETY: its chain holds it from here on.
        let unmanaged = unsafe Unmanaged.passUnretained(record)
        count += 1
        if count > chains.count { rehash(bits: bits + 1) }
        link(record)
        checkInvariants()
        return unsafe unmanaged
    }

    /// Whether every record is in its chain, and counted, where there are few.
    private func checkInvariants() {
        #if DEBUG
        guard chains.count <= checkedSize else { return }
        var found = 0
        for index in chains.indices {
            var record = chains[index]
            while let known = record {
                assert(chain(of: known.identity) == index)
                (record, found) = (known.next, found + 1)
            }
        }
        assert(found == count)
        #endif
    }

    private mutating func link(_ record: consuming OwnerRecord) {
        let chain = chain(of: record.identity)
        swap(&record.next, &chains[chain])
        chains[chain] = record
    }

    /// Takes a record out; returns it as this held it, or `nil` if it is not in. Complexity: O(1) amortised.
    mutating func remove(_ record: OwnerRecord) -> OwnerRecord? {
        let chain = chain(of: record.identity)
        let removed: OwnerRecord?
        if chains[chain] === record {
            removed = chains[chain].take()
            chains[chain] = record.next.take()
        } else {
            var previous = chains[chain]
            while let known = previous, known.next !== record { previous = known.next }
            guard let previous else { return nil }
            removed = previous.next.take()
            previous.next = record.next.take()
        }
        count -= 1
        checkInvariants()
        if bits > OwnerRecords.smallestBits, count < chains.count / 8 { rehash(bits: bits - 1) }
        return removed
    }

    private mutating func rehash(bits: UInt64) {
        let old = chains
        self.bits = bits
        chains = ContiguousArray(repeating: nil, count: 1 << bits)
        for var chain in old {
            while let record = chain {
                chain = record.next.take()
                link(record)
            }
        }
    }
}
