/// Words of allocated memory.
@safe final class Words {
    private let words: UnsafeMutablePointer<UInt>

    init(_ words: [UInt]) {
        // SAFETY: allocated for the number of words that are written, and freed in `deinit`.
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
