/// The captures of a closure's context or a variable's box, read from the compiler's capture descriptor.
///
/// All contexts of one closure in the source have the same descriptor (`Records.h`, `CaptureDescriptor`).
struct ClosureContext: Sendable {
    /// Where the captures begin, behind the metadata of generic parameters.
    private let start: Int
    /// The length of an object's metadata and reference counts.
    private static let header = 16
    /// Where the metadata of generic parameters begins.
    private let bindings: Int
    private var names: [MangledName] = []
    private var parameters: [(name: String, source: String)] = []
    /// The captures and their places, if the same in all contexts.
    private var captures: [Capture]?

    /// The number of bytes to read from a context.
    var size: Int { captures.map { $0.last?.end ?? 0 } ?? 1024 }

    /// Whether the context is the box of a variable, the closure's only capture. A closure with one reference has no
    /// context of its own. The context of an optional constant looks the same, and counts as a box.
    var isVariable: Bool { captures?.count == 1 && captures?.first?.isReference == true }

    /// `nil` without a descriptor, for example without reflection metadata.
    init?(offset: Int, descriptor address: UInt) {
        guard offset < 1 << 16, CompiledRecords.isCaptureDescriptor(address),
            let captures = Memory.load(UInt32.self, at: address), captures < 1024,
            let sources = Memory.load(UInt32.self, at: address &+ 4), sources < 64,
            let bindings = Memory.load(UInt32.self, at: address &+ 8), bindings < 64
        else { return nil }
        // No offset is given for a layout known only at run time, as for values of libraries that may change.
        let first = max(offset, ClosureContext.header)
        self.bindings = first
        start = first + 8 * Int(bindings)
        for index in 0..<UInt(captures) {
            guard let name = MangledName(at: Memory.relative(at: address &+ 12 &+ 4 * index)) else { return nil }
            names.append(name)
        }
        let list = address &+ 12 &+ 4 * UInt(captures)
        for index in 0..<UInt(sources) {
            guard let name = MangledName(at: Memory.relative(at: list &+ 8 * index)),
                let source = MangledName(at: Memory.relative(at: list &+ 8 * index &+ 4))
            else { return nil }
            parameters.append((name.text, source.text))
        }
        if parameters.isEmpty { self.captures = places(in: GenericEnvironment()) }
    }

    /// The strong references of a context: its captures in order, as far as their types are known.
    func references(in bytes: [UInt8]) -> [HeapObject.Reference] {
        (captures ?? places(in: environment(of: bytes))).flatMap { capture in
            capture.end <= bytes.count ? capture.layout.references(in: bytes, at: capture.offset) : []
        }
    }

    /// The types of the closure's generic parameters, as far as the context binds them directly (`B0`, `B1`, …).
    private func environment(of bytes: [UInt8]) -> GenericEnvironment {
        var environment = GenericEnvironment()
        for (name, source) in parameters {
            guard source.hasPrefix("B"), let index = Int(source.dropFirst()), index < 64,
                let word = bytes.load(UInt.self, at: bindings + 8 * index), let type = RuntimeType(found: word)
            else { continue }
            environment.add(name, metadata: type.metadata)
        }
        return environment
    }

    private func places(in environment: GenericEnvironment) -> [Capture] {
        var captures: [Capture] = []
        for name in names {
            // After an unrecognised capture the places of the next captures are unknown.
            guard let capture = Capture(name, behind: captures.last?.end ?? start, in: environment) else { break }
            captures.append(capture)
        }
        return captures
    }

    /// The place and layout of one capture.
    private struct Capture: Sendable {
        let offset: Int
        let end: Int
        let layout: TypeLayout
        let isReference: Bool

        init?(_ name: MangledName, behind previous: Int, in environment: GenericEnvironment) {
            var (size, alignment) = (8, 8)
            let (isFunction, isThin) = name.isFunction
            if isFunction {
                size = isThin ? 8 : 16
                layout = isThin ? .none : .function
            } else if name.isBox {
                layout = .reference
            } else if let type = name.type(in: environment), let itsSize = type.size, let itsAlignment = type.alignment
            {
                (size, alignment) = (itsSize, itsAlignment)
                layout = name.ownership == .strong ? TypeLayout.value(of: type) : .none
            } else if name.ownership == .strong || name.isExistential {
                return nil
            } else {
                // One reference that is not strong, to an object of any class.
                layout = .none
            }
            isReference = size == 8 && !layout.isNone
            offset = (previous + alignment - 1) & ~(alignment - 1)
            end = offset + size
        }
    }
}
