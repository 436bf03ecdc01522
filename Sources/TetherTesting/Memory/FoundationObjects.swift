internal import Foundation
internal import Tether

/// What is known of Foundation's objects: the names of their classes, and a property with a name
/// (swift-corelibs-foundation, swift-foundation). Another Foundation has other classes, which are named as they are.
enum FoundationObjects {
    enum Kind: String {
        case operationQueue = "Foundation.OperationQueue"
        case blockOperation = "Foundation.BlockOperation"
        case operation = "Foundation.Operation"
        case timer = "Foundation.Timer"
        case thread = "Foundation.Thread"
        case center = "FoundationEssentials.NotificationCenter"
        case runLoop = "Foundation.RunLoop"
        case notificationQueue = "Foundation.NotificationQueue"

        /// An operation and its queue retain the next operations by hand (`Operation.swift`).
        var retainsUnmanaged: Bool {
            self == .operationQueue || self == .blockOperation || self == .operation
        }

        fileprivate var noun: String {
            switch self {
            case .operationQueue: "operation queue"
            case .blockOperation, .operation: "operation"
            case .timer: "timer"
            case .thread: "thread"
            case .center: "Foundation's notification center"
            case .runLoop: "run loop"
            case .notificationQueue: "notification queue"
            }
        }

        func remedy(isOfClosure: Bool) -> String {
            switch self {
            case .operationQueue, .blockOperation, .operation:
                "Let the operation run, and release the operation."
            case .timer: "Call `invalidate()` of the timer."
            case .thread where isOfClosure: "Let the thread end."
            case .thread: "Remove the object from the thread's dictionary."
            case .center: "Remove the observer."
            case .runLoop: "Remove the object from the run loop."
            case .notificationQueue: "Let the run loop post the notification, or dequeue it."
            }
        }
    }

    static func kind(_ type: RuntimeType) -> Kind? { Kind(rawValue: type.fullName) }

    /// Whether memory is the next block of a run loop, an object for its modes, and the block itself
    /// (`CFRunLoop.c`).
    static func isRunLoopBlock(_ chunk: HiddenAddress, _ size: Int) -> Bool {
        guard size == 24, let modes = chunk.word(1), let block = chunk.word(2),
            let modesClass = Memory.load(UInt.self, at: modes),
            case .instance(let type, _, _, _) = HeapMetadata.at(modesClass), isOfLibrary(type),
            let blockClass = Memory.load(UInt.self, at: block)
        else { return false }
        return DispatchObjects.isBlock(blockClass)
    }

    /// Whether the names of a type's properties say nothing to a user.
    static func isOfLibrary(_ type: RuntimeType) -> Bool {
        ["Foundation.", "FoundationEssentials.", "__C.", "Dispatch.", "Swift."].contains {
            type.fullName.hasPrefix($0)
        }
    }

    /// An object as the subject of a sentence.
    static func description(of object: HiddenAddress, _ type: RuntimeType, _ kind: Kind) -> String {
        if kind == .center { return kind.noun }
        let name = name(of: object, type)
        return name.map { "the \(kind.noun) `\($0)`" } ?? withArticle(kind.noun)
    }

    static func withArticle(_ noun: String) -> String {
        let isVowel = noun.first.map { "AEIOaeio".contains($0) } == true
        return isVowel ? "an \(noun)" : "a \(noun)"
    }

    /// The first string in a property whose name has "name" in it.
    private static func name(of object: HiddenAddress, _ type: RuntimeType) -> String? {
        let fields = type.fields.filter { $0.name.lowercased().contains("name") }
        let names = fields.lazy.compactMap { field -> String? in
            guard field.type.size == 16 else { return nil }
            return MemoryText.string(at: object + field.offset)
        }
        // A queue without a name has its address in a name.
        return names.first { !$0.isEmpty && !$0.contains(" 0x") }
    }
}

/// Strings in memory (`StringObject.swift`).
enum MemoryText {
    private static let lengthLimit = 40

    /// The string in two words: at most 15 bytes are in the words, others at an address.
    static func string(at place: HiddenAddress) -> String? {
        guard let bytes = Memory.bytes(at: place.address, count: 16),
            let flags = bytes.load(UInt64.self, at: 8), let word = bytes.load(UInt64.self, at: 0)
        else { return nil }
        func bit(_ number: UInt64) -> Bool { flags >> number & 1 == 1 }
        let isSmall = bit(61)
        if isSmall {
            let count = Int(flags >> 56) & 0xF
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        let isBridged = bit(62)
        let isForeign = bit(60)
        let count = Int(word & 0xFFFF_FFFF_FFFF)
        // The bytes stand behind the header of the storage; a literal's address is lower by that.
        let address = UInt(flags & 0x0FFF_FFFF_FFFF_FFFF) &+ 32
        guard !isBridged, !isForeign, count > 0, count < 4096,
            let text = Memory.bytes(at: address, count: min(count, lengthLimit))
        else { return nil }
        return String(decoding: text, as: UTF8.self) + (count > lengthLimit ? "…" : "")
    }
}
