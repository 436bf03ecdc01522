/// Words of memory at an address of their own, for as long as this lives.
@safe final class Words {
    private let words: UnsafeMutablePointer<UInt>

    init(_ words: [UInt]) {
        // SAFETY: as many words as are then written; freed with this.
        unsafe self.words = .allocate(capacity: words.count)
        for (index, word) in words.enumerated() { unsafe self.words[index] = word }
    }

    deinit { unsafe words.deallocate() }

    var address: UInt { unsafe UInt(bitPattern: words) }

    /// Changes a word.
    func set(_ index: Int, _ word: UInt) { unsafe words[index] = word }
}

extension [UInt] {
    /// The words' bytes in memory.
    var bytes: [UInt8] {
        flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word.littleEndian >> (8 * $0)) } }
    }
}
