// Memory that follows the number of elements (M9).

extension Dictionary {
    /// Rebuilds a dictionary with more than four places for each element. O(1) amortised.
    mutating func releaseUnusedCapacity() {
        guard capacity > 64, count < capacity / 4 else { return }
        var smaller = Dictionary(minimumCapacity: count)
        for (key, value) in self { smaller[key] = value }
        self = smaller
    }
}

extension Array {
    /// Releases the memory of a large array that has no element left. O(1).
    mutating func releaseUnusedCapacity() {
        if isEmpty, capacity > 1024 { self = [] }
    }
}
