/// A relation between at most 64 events: a row of bits for each.
struct Relation {
    private(set) var rows: [UInt64]

    init(count: Int) {
        rows = Array(repeating: 0, count: count)
    }

    var count: Int { rows.count }

    subscript(from: Int, to: Int) -> Bool { rows[from] >> UInt64(to) & 1 != 0 }

    mutating func insert(_ from: Int, _ to: Int) { rows[from] |= 1 << UInt64(to) }

    mutating func insert(_ from: Int, all: UInt64) { rows[from] |= all }

    mutating func formUnion(_ other: Relation) {
        for index in rows.indices { rows[index] |= other.rows[index] }
    }

    func union(_ others: Relation...) -> Relation {
        var union = self
        for other in others { union.formUnion(other) }
        return union
    }

    /// The pairs of a step of this relation and then a step of the other.
    func followed(by other: Relation) -> Relation {
        var result = Relation(count: count)
        for from in rows.indices {
            var left = rows[from]
            while left != 0 {
                result.rows[from] |= other.rows[left.trailingZeroBitCount]
                left &= left - 1
            }
        }
        return result
    }

    func filter(_ isIncluded: (Int, Int) -> Bool) -> Relation {
        var result = Relation(count: count)
        for from in rows.indices {
            var left = rows[from]
            while left != 0 {
                let to = left.trailingZeroBitCount
                left &= left - 1
                if isIncluded(from, to) { result.insert(from, to) }
            }
        }
        return result
    }

    var transitiveClosure: Relation {
        var closure = self
        for middle in rows.indices where closure.rows[middle] != 0 {
            for from in rows.indices where closure[from, middle] {
                closure.rows[from] |= closure.rows[middle]
            }
        }
        return closure
    }

    var isIrreflexive: Bool { !rows.indices.contains { self[$0, $0] } }

    var isAcyclic: Bool { transitiveClosure.isIrreflexive }
}
