internal import Foundation
internal import Tether

/// The meaning of a word anywhere in memory that is the address of an object: in a root, in a
/// holder, or nothing.
///
/// A word in a used chunk is in a holder, whose first word tells its kind. A word in the data of an
/// image is a global variable. Any other word is on a stack, or in a thread's own data.
struct MemoryPlaces {
    /// The kind of a chunk.
    enum Kind {
        case object(RuntimeType)
        case collection(RuntimeType)
        /// A closure's context.
        case closure
        /// The box of a variable, a value or an error.
        case box
        case task
        case taskMemory
        /// A task that has returned.
        case taskResult
        case block
        /// An object of libdispatch, such as "serial".
        case dispatch(String)
        /// The part of a run loop that has a block.
        case runLoopBlock
        /// Memory of an unknown kind.
        case memory(Int)
    }

    enum Root {
        case global(Symbol)
        case threadData(String)
        case stack(String)
        /// A task, or an observer of Tether, which the runtime or a center keeps.
        case living
        /// The held object itself.
        case cycle
        /// The first holder, which retains itself.
        case loop
        /// Nothing leads to the first holder.
        case nothing
        /// The search ended at its limit.
        case unsearched

        /// Whether the root has no old words. Stacks have, and pools and caches of libraries.
        var isSure: Bool {
            switch self {
            case .stack, .threadData, .nothing, .unsearched: false
            case .global(let symbol): !symbol.mangled.isEmpty
            case .living, .cycle, .loop: true
            }
        }
    }

    /// A word that leads from a holder or a root to an object.
    struct Edge {
        let place: HiddenAddress
        /// The property, as in `HeapObject.Reference`.
        var label = ""
        var isClosure = false
        /// Whether the types prove that the reference is strong.
        var isProved = false
        /// Whether the word is in a known structure that retains what it leads to.
        var isKnown = false
    }

    enum Found {
        case root(Root, Edge, cost: Int)
        case holder(HiddenAddress, Kind, Edge, cost: Int)

        var edge: Edge {
            switch self {
            case .root(_, let edge, _), .holder(_, _, let edge, _): edge
            }
        }

        var cost: Int {
            switch self {
            case .root(_, _, let cost), .holder(_, _, _, let cost): cost
            }
        }
    }

    /// The price of a step on a path. A search finds the cheapest path, so no unproved step wins
    /// over proved ones.
    enum Cost {
        static let variable = 0
        /// Proved by a type.
        static let proved = 1
        /// In a known object of libdispatch or Foundation.
        static let known = 5
        /// In a part of a known object whose layout is hidden.
        static let hidden = 10
        static let task = 40
        /// In memory of an unknown kind.
        static let memory = 60
        /// In data without a name, and in a thread's own data.
        static let unnamed = 100
        static let stack = 1000
    }

    let index: MemoryIndex
    private let threads: ThreadPlaces

    init(_ index: MemoryIndex) {
        self.index = index
        threads = ThreadPlaces(index)
    }

    /// Whether an object is a chunk of the allocator. Words that lead to others are not known.
    func isChunk(_ object: HiddenAddress) -> Bool {
        guard case .used(object, _) = index.chunk(around: object) else { return false }
        return true
    }

    /// What the words that lead to an object are.
    /// - Parameter isTarget: whether the object is the one whose holders are searched.
    func found(leadingTo object: HiddenAddress, isTarget: Bool = false) -> [Found] {
        let held = Held(object, isTarget: isTarget)
        return index.places(leadingTo: object).compactMap { found(at: $0, leadingTo: held) }
    }

    /// An object to which a word leads.
    private struct Held {
        let address: HiddenAddress
        let isTarget: Bool
        /// Whether it is an object of Swift, to which no pointer or number is a reference.
        let isSwift: Bool

        init(_ object: HiddenAddress, isTarget: Bool) {
            address = object
            self.isTarget = isTarget
            let first = object.word(0)
            let kind = first.flatMap { Memory.load(UInt.self, at: $0) }
            isSwift =
                first.flatMap(HeapMetadata.at) != nil
                || kind.map(HeapKind.range.contains) == true
        }
    }

    /// The kinds in the metadata of objects that are no instances (`MetadataKind.def`).
    private enum HeapKind {
        static let context: UInt = 0x400
        static let genericBox: UInt = 0x500
        static let error: UInt = 0x501
        static let range = context...0x503
    }

    private func found(at place: HiddenAddress, leadingTo held: Held) -> Found? {
        switch index.chunk(around: place) {
        case .free: return nil
        case .used(let chunk, let size): return holder(chunk, size, place, held)
        case .none: break
        }
        if let symbol = Symbol.at(place) { return global(symbol, place, held) }
        guard let region = index.region(around: place) else { return nil }
        let edge = Edge(place: place)
        switch threads.place(place, in: region) {
        case .data(let thread): return .root(.threadData(thread), edge, cost: Cost.unnamed)
        case .stack(let function): return .root(.stack(function), edge, cost: Cost.stack)
        case nil: return nil
        }
    }

    // MARK: Globals

    private func global(_ symbol: Symbol, _ place: HiddenAddress, _ held: Held) -> Found? {
        if symbol.isOfTether || symbol.isPlainVariable || symbol.isPointer && held.isSwift {
            return nil
        }
        if let constant = symbol.constantOfObject { return property(of: constant, place) }
        let edge = Edge(place: place, isClosure: symbol.isFunctionVariable, isProved: true)
        if symbol.isOfSwift {
            guard symbol.variable != nil else { return nil }
            let cost = symbol.isOfLibrary ? Cost.known : Cost.variable
            return .root(.global(symbol), edge, cost: cost)
        }
        if symbol.isOfRuntime { return nil }
        if symbol.mangled.isEmpty {
            return .root(.global(symbol), Edge(place: place), cost: Cost.unnamed)
        }
        let cost = symbol.isOfLibrary ? Cost.known : Cost.proved
        return .root(.global(symbol), edge, cost: cost)
    }

    /// A property of a constant's object in the data of an image.
    private func property(of constant: Symbol, _ place: HiddenAddress) -> Found? {
        let object = place + (8 - constant.offset)
        if place - object < 16 { return nil }
        var edge = Edge(place: place)
        // Code that uses properties alone leaves the object's first word 0.
        if let first = object.word(0),
            case .instance(_, let size, let layout, _) = HeapMetadata.at(first),
            let bytes = Memory.bytes(at: object.address, count: size)
        {
            let word = layout.meaning(of: place - object, in: bytes)
            guard word.kind == .strong || word.kind == .unknown else { return nil }
            edge.label = word.label
            edge.isClosure = word.isClosure
            edge.isProved = word.kind == .strong
        }
        return .root(.global(constant), edge, cost: Cost.variable)
    }

    // MARK: Chunks

    private func holder(
        _ chunk: HiddenAddress, _ size: Int, _ place: HiddenAddress, _ held: Held
    ) -> Found? {
        guard let start = Memory.prefix(at: chunk.address, count: min(256, size)),
            let first = start.load(UInt.self, at: 0)
        else { return nil }
        let offset = place - chunk
        func inside(_ kind: Kind, _ word: WordMeaning, unknown: Int = Cost.hidden) -> Found? {
            var edge = Edge(place: place, label: word.label, isClosure: word.isClosure)
            switch word.kind {
            case .strong:
                edge.isProved = true
                return .holder(chunk, kind, edge, cost: Cost.proved)
            case .unknown:
                edge.isKnown = unknown <= Cost.known || isUsersProperty(word.label, of: kind)
                return .holder(chunk, kind, edge, cost: unknown)
            case .plain where !held.isSwift:
                edge.isKnown = true
                return .holder(chunk, kind, edge, cost: Cost.known)
            case .none, .plain:
                return nil
            }
        }
        func known(_ kind: Kind, _ cost: Int = Cost.known) -> Found? {
            inside(kind, WordMeaning(.unknown), unknown: cost)
        }
        if offset == 0 {
            // The side table for weak references leads back to its object.
            if MemoryPlaces.isSideTable(chunk, of: held.address) { return nil }
        } else if MemoryPlaces.hasCount(start), let metadata = HeapMetadata.at(first) {
            if offset < 16 || MemoryPlaces.hasEnded(start) { return nil }
            switch metadata {
            case .instance(let type, let instanceSize, let layout, _):
                if type.isOfText { return nil }
                let kind = Kind.object(type)
                guard offset < instanceSize else {
                    if type.isOfTetherAny && held.isTarget { return nil }
                    // The elements of a buffer, or the rest of the chunk.
                    let rest = size - instanceSize
                    if rest < 16 { return nil }
                    return known(kind, rest < 32 ? Cost.memory : Cost.hidden)
                }
                let whole = MemoryPlaces.whole(start, instanceSize, at: chunk)
                let word = layout.meaning(of: offset, in: whole)
                // Tables of Tether have addresses of objects that they do not retain.
                if word.kind == .unknown, type.isOfTetherAny, held.isTarget { return nil }
                let isRetained = FoundationObjects.kind(type)?.retainsUnmanaged == true
                if isRetained, word.kind == .none || word.kind == .plain { return known(kind) }
                return inside(kind, word)
            case .container(let type, let container):
                return inside(
                    .collection(type), container.meaning(of: offset, in: chunk, start))
            case .context(let context):
                let whole = MemoryPlaces.whole(start, context.size, at: chunk)
                return inside(
                    context.isVariable ? .box : .closure, context.meaning(of: offset, in: whole))
            }
        }
        if SwiftTasks.isTask(first) || SwiftTasks.isSlab(first) {
            if SwiftTasks.isTask(first), SwiftTasks.isClosure(place) {
                return inside(.task, WordMeaning(.strong, isClosure: true))
            }
            if SwiftTasks.isTask(first), let type = SwiftTasks.resultType(at: place, in: chunk),
                let bytes = Memory.bytes(at: place.address, count: type.size ?? 0)
            {
                return inside(.taskResult, TypeLayout.value(of: type).meaning(of: 0, in: bytes))
            }
            if SwiftTasks.isUnused(place, in: chunk, size) { return nil }
            return known(SwiftTasks.isTask(first) ? .task : .taskMemory, Cost.task)
        }
        if SwiftTasks.isJob(first) { return nil }
        let kind = Memory.load(UInt.self, at: first)
        let isSwift = kind.map(HeapKind.range.contains) == true
        if isSwift, offset < 16 || MemoryPlaces.hasEnded(start) { return nil }
        if kind == HeapKind.genericBox || kind == HeapKind.error {
            let isError = kind == HeapKind.error
            guard let box = BoxedValue(chunk, start, isError: isError) else {
                return known(.box, Cost.hidden)
            }
            return inside(.box, box.meaning(of: offset))
        }
        if kind == HeapKind.context { return known(.closure, Cost.hidden) }
        if DispatchObjects.isBlock(first) {
            return DispatchObjects.captures(chunk, at: offset) ? known(.block) : nil
        }
        if let kind = DispatchObjects.kind(first) { return known(.dispatch(kind)) }
        if DispatchObjects.isContinuation(chunk, size) { return known(.dispatch("continuation")) }
        if DispatchObjects.isValue(chunk, size) { return known(.dispatch("value")) }
        if DispatchObjects.kindOfSource(handlersAt: chunk) != nil {
            return known(.dispatch("source"))
        }
        if FoundationObjects.isRunLoopBlock(chunk, size) { return known(.runLoopBlock) }
        return known(.memory(size), Cost.memory)
    }

    /// Whether a property is the user's. The layout of some is hidden, such as that of a `Mutex`;
    /// all its words are the value's. Foundation's objects have structures of C, with old words.
    private func isUsersProperty(_ label: String, of kind: Kind) -> Bool {
        guard case .object(let type) = kind, !label.isEmpty else { return false }
        return !FoundationObjects.isOfLibrary(type)
    }

    /// Whether the second word can be an object's count: the lowest bit is set, or the count is in a
    /// side table (`RefCount.h`). Other memory may begin with a type.
    private static func hasCount(_ start: [UInt8]) -> Bool {
        guard let counts = start.load(UInt.self, at: 8) else { return false }
        return counts & 1 == 1 || counts >> 62 == 3
    }

    /// Whether an object of Swift has ended, from its first words. Unowned references keep the
    /// memory of an ended object, with the words of the references that it had.
    ///
    /// Bit 32 of the count is set from the beginning of the end on (`RefCount.h`). The count is in
    /// the side table if there is one.
    private static func hasEnded(_ start: [UInt8]) -> Bool {
        guard var counts = start.load(UInt.self, at: 8) else { return false }
        if counts >> 62 == 3 {
            let sideTable = (counts << 3) & ~7
            guard let ownCounts = Memory.load(UInt.self, at: sideTable &+ 16) else { return false }
            counts = ownCounts
        }
        return counts >> 63 == 0 && counts >> 32 & 1 == 1
    }

    /// Whether a chunk is the side table of an object: the object's count leads back to it
    /// (`RefCount.h`).
    private static func isSideTable(_ chunk: HiddenAddress, of object: HiddenAddress) -> Bool {
        guard let counts = object.word(1), counts >> 62 == 3 else { return false }
        return HiddenAddress((counts << 3) & ~7) == chunk
    }

    /// A copy of an object, or as much of it as is there with the same first word.
    private static func whole(_ start: [UInt8], _ size: Int, at chunk: HiddenAddress) -> [UInt8] {
        if size <= start.count { return start }
        guard let bytes = Memory.bytes(at: chunk.address, count: size),
            bytes.prefix(8) == start.prefix(8)
        else { return start }
        return bytes
    }
}

/// The value in a box of an existential or of an error, which has its type (`HeapObject.h`,
/// `Error.h`).
private struct BoxedValue {
    private let type: RuntimeType
    private let start: Int
    private let bytes: [UInt8]

    init?(_ chunk: HiddenAddress, _ head: [UInt8], isError: Bool) {
        let metadata =
            isError
            ? head.load(UInt.self, at: 16)
            : head.load(UInt.self, at: 0).flatMap { Memory.load(UInt.self, at: $0 &+ 16) }
        guard let metadata, let type = RuntimeType(boxed: metadata),
            let alignment = type.alignment, let size = type.size
        else { return nil }
        let header = isError ? 32 : 16
        start = (header + alignment - 1) & ~(alignment - 1)
        guard let bytes = Memory.bytes(at: (chunk + start).address, count: size) else {
            return nil
        }
        self.type = type
        self.bytes = bytes
    }

    func meaning(of offset: Int) -> WordMeaning {
        guard offset >= start, offset < start + bytes.count else { return WordMeaning(.none) }
        return TypeLayout.value(of: type).meaning(of: offset - start, in: bytes)
    }
}

extension RuntimeType {
    /// Whether the type is the storage of a string, whose bytes are no references.
    fileprivate var isOfText: Bool { fullName.hasPrefix("Swift.__String") }

    /// Whether the type is of a module of Tether.
    var isOfTetherAny: Bool {
        let name = fullName
        return isOfTether
            || ["TetherTesting.", "TetherVerification."].contains { name.hasPrefix($0) }
    }
}
