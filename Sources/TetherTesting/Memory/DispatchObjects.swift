internal import Dispatch
internal import Foundation
internal import Tether

/// What is known of libdispatch's objects, and of blocks.
///
/// - The first word of an object is a table whose symbol is `__OS_dispatch_KIND_vtable`
///   (`object_internal.h`).
/// - A block in a queue is a continuation, one of whose words is a function of libdispatch that
///   calls blocks (`queue_internal.h`).
/// - A block is its class, flags, function, description and captures; the second word of the
///   description is the block's size (`Block_private.h`).
///
/// The place of a queue's label is found in a queue made here. Where it is not found, a queue has no
/// label.
enum DispatchObjects {
    /// The kind of an object, such as "serial" or "source".
    static func kind(_ firstWord: UInt) -> String? {
        guard let symbol = Symbol.at(word: firstWord) else { return nil }
        let (beginning, ending) = ("__OS_dispatch_", "_vtable")
        if symbol.mangled.hasPrefix(beginning), symbol.mangled.hasSuffix(ending) {
            let kind = symbol.mangled.dropFirst(beginning.count).dropLast(ending.count)
            return kind.hasPrefix("queue_") ? String(kind.dropFirst("queue_".count)) : String(kind)
        }
        return symbol.mangled == "_dispatch_continuation_vtables" ? "continuation" : nil
    }

    static let queueKinds: Set<String> = [
        "serial", "concurrent", "main", "global", "workloop", "runloop", "queue",
    ]

    /// The kinds of objects that link blocks.
    static let linkingKinds = queueKinds.union(["continuation", "group"])

    static func isContinuation(_ chunk: HiddenAddress, _ size: Int) -> Bool {
        guard size <= 128 else { return false }
        return (2..<min(8, size / 8)).contains { index in
            let word = chunk.word(index)
            guard let symbol = Symbol.at(word: word), symbol.offset == 0 else { return false }
            let isOfDispatch =
                symbol.mangled.hasPrefix("_dispatch_")
                && ["call_block", "_invoke"].contains(where: symbol.mangled.contains)
            return isOfDispatch || isBlock(chunk.word(index + 1), calling: word)
        }
    }

    /// Whether a word is the address of a block that calls a function.
    private static func isBlock(_ word: UInt?, calling function: UInt?) -> Bool {
        guard let word, let first = Memory.load(UInt.self, at: word), isBlock(first) else {
            return false
        }
        return HiddenAddress(word).word(2) == function
    }

    /// Whether memory is a queue's specific value, which has the function that releases it.
    static func isValue(_ chunk: HiddenAddress, _ size: Int) -> Bool {
        guard size <= 64 else { return false }
        return (2..<size / 8).contains { index in
            let symbol = Symbol.at(word: chunk.word(index))
            return symbol?.mangled.contains("_destructDispatchSpecificValue") == true
        }
    }

    // MARK: Sources

    /// The kind of a source, such as "timer", from the part that has its handlers. A variable of
    /// libdispatch describes the kind, behind at most three links of a source with a handle.
    static func kindOfSource(handlersAt part: HiddenAddress) -> String? {
        let beginning = "_dispatch_source_type_"
        let names = (0..<4).lazy.compactMap { Symbol.at(word: part.word($0))?.mangled }
        return names.first { $0.hasPrefix(beginning) }.map { String($0.dropFirst(beginning.count)) }
    }

    /// A source, or its part with the handlers, in words, and the remedy.
    static func source(_ source: HiddenAddress) -> (words: String, remedy: String) {
        let parts = [source] + (2..<40).compactMap { source.word($0).map { HiddenAddress($0) } }
        let kind = parts.lazy.compactMap(kindOfSource).first ?? ""
        if kind == "after" {
            return (
                "a block that `asyncAfter` delays",
                "Let the queue run the block, or capture the object weakly there."
            )
        }
        var noun = "dispatch source"
        if kind.hasPrefix("timer") { noun = "timer" }
        if kind == "signal" { noun = "signal source" }
        return ("the handler of a \(noun)", "Call `cancel()` of the \(noun).")
    }

    // MARK: Blocks

    static func isBlock(_ firstWord: UInt) -> Bool {
        guard let symbol = Symbol.at(word: firstWord), symbol.offset == 0 else { return false }
        return ["_NSConcreteMallocBlock", "_NSConcreteFinalizingBlock"].contains {
            symbol.mangled.hasPrefix($0)
        }
    }

    /// Whether an offset in a block is among its captures, and the block has not ended. The lowest
    /// flag is set at the end.
    static func captures(_ block: HiddenAddress, at offset: Int) -> Bool {
        guard offset >= 32, let flags = block.word(1), flags & 1 == 0,
            let description = block.word(3),
            let size = Memory.load(UInt.self, at: description &+ 8)
        else { return false }
        return size <= UInt(Memory.limit) && offset < Int(size)
    }

    /// The code of a block's closure: Swift's closure is the first capture.
    static func code(of block: HiddenAddress) -> String? {
        [4, 2].lazy.compactMap { Symbol.at(word: block.word($0))?.codeAndLine }.first
    }

    // MARK: Labels

    /// The object in a wrapper of Swift's.
    private static func object(in wrapper: AnyObject) -> HiddenAddress? {
        let wrapper = HiddenAddress(HeapObject(wrapper).address)
        return (2..<6).lazy.compactMap { index -> HiddenAddress? in
            guard let word = wrapper.word(index), let first = Memory.load(UInt.self, at: word),
                kind(first) != nil
            else { return nil }
            return HiddenAddress(word)
        }.first
    }

    private static let labelPlace: Int? = {
        let label = "tether.label.\(UInt32.random(in: 0..<1 << 30))"
        let queue = DispatchQueue(label: label)
        guard let object = object(in: queue) else { return nil }
        let place = (2..<40).first { object.word($0).flatMap(string) == label }
        withExtendedLifetime(queue) {}
        return place
    }()

    private static func string(_ address: UInt) -> String? {
        guard let bytes = Memory.prefix(at: address, count: 128),
            let end = bytes.firstIndex(of: 0)
        else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    static func queue(_ object: HiddenAddress) -> String {
        let label = labelPlace.flatMap { object.word($0) }.flatMap(string)
        guard let label, !label.isEmpty else { return "a queue" }
        return "the queue `\(label)`"
    }
}
