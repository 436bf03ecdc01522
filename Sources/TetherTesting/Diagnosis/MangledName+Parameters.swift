extension MangledName {
    /// The generic parameters in the name; `nil` if a part of the name is a parameter pack or unrecognised.
    ///
    /// The runtime ends the process if the type has a pack or an unbound parameter. So the scan separates letters of
    /// parameters from identifiers, substitutions and symbolic references, whose lengths are known (`Mangling.rst`). A
    /// letter wrongly taken for a parameter leaves the type unknown.
    var parameters: Set<String>? {
        var scanner = Scanner(rest: bytes[...])
        var found: Set<String> = []
        while let byte = scanner.rest.popFirst() {
            switch byte {
            case 0x01..<0x18: guard scanner.skip(4) else { return nil }
            case 0x18..<0x20: guard scanner.skip(8) else { return nil }
            case UInt8(ascii: "x"): found.insert("x")
            case UInt8(ascii: "q"):
                guard let place = scanner.parameter() else { return nil }
                found.insert("q" + place)
            case UInt8(ascii: "Q"):
                switch scanner.next() {
                // An associated type of the first parameter, and of another.
                case "z", "Z": found.insert("x")
                case "y", "Y":
                    guard let place = scanner.parameter() else { return nil }
                    found.insert("q" + place)
                case "o": guard scanner.index() != nil else { return nil }
                default: return nil
                }
            case UInt8(ascii: "S"):
                _ = scanner.number()
                guard let kind = scanner.next(), kind != "c" || scanner.next() != nil else { return nil }
            case UInt8(ascii: "B"):
                guard scanner.next() != nil else { return nil }
                if scanner.number() != nil, scanner.next() != "_" { return nil }
            case UInt8(ascii: "A"): guard scanner.skipSubstitutions() else { return nil }
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard scanner.skipIdentifier(beginning: byte) else { return nil }
            default: break
            }
        }
        return found
    }

    /// The rest of a name.
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func next() -> Character? { rest.popFirst().map { Character(Unicode.Scalar($0)) } }

        mutating func skip(_ count: Int) -> Bool {
            guard count <= rest.count else { return false }
            rest.removeFirst(count)
            return true
        }

        /// Removes leading digits, if any.
        mutating func digits() -> String {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest.removeFirst(digits.count)
            return String(decoding: digits, as: UTF8.self)
        }

        mutating func number() -> Int? { Int(digits()) }

        /// `_`, `0_`, `1_`, …
        mutating func index() -> String? {
            let digits = digits()
            return next() == "_" ? digits + "_" : nil
        }

        /// The indices after `q`: one index, or `d` and two indices.
        mutating func parameter() -> String? {
            guard rest.first == UInt8(ascii: "d") else { return index() }
            _ = next()
            guard let depth = index(), let index = index() else { return nil }
            return "d" + depth + index
        }

        /// Skips substitutions: lower case letters, with numbers in between, up to a capital letter or `_`.
        mutating func skipSubstitutions() -> Bool {
            while let next = next() {
                if next == "_" || next.isUppercase { return true }
                if !next.isLowercase && !next.isNumber { return false }
            }
            return false
        }

        /// Skips an identifier: a length and a text, or after `0` letters for earlier words, mixed with such parts.
        mutating func skipIdentifier(beginning first: UInt8) -> Bool {
            guard first == UInt8(ascii: "0") else {
                return skipText(Int(String(Unicode.Scalar(first)) + digits()))
            }
            // `00` begins an identifier that is not pure ASCII.
            if rest.first == UInt8(ascii: "0") {
                _ = next()
                return skipText(number())
            }
            var hasWords = true
            while hasWords {
                while hasWords, let letter = rest.first.map({ Character(Unicode.Scalar($0)) }), letter.isLetter {
                    _ = next()
                    hasWords = letter.isLowercase
                }
                if rest.first == UInt8(ascii: "0") {
                    _ = next()
                    return true
                }
                guard skipText(number()) else { return false }
            }
            return true
        }

        private mutating func skipText(_ count: Int?) -> Bool { count.map { $0 > 0 && skip($0) } ?? false }
    }
}
