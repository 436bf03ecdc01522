/// The captures of a closure's context or a variable's box, read from the compiler's capture
/// descriptor.
///
/// All contexts of one closure in the source have the same descriptor (`Records.h`,
/// `CaptureDescriptor`).
struct ClosureContext: Sendable {
    /// The captures up to the first one of unknown size, behind which the places are unknown.
    private var captures: [Capture] = []
    /// Whether all captures are known.
    private var isComplete = true
    /// Whether the context has exactly one reference, and so is the box of a variable. A closure
    /// that captures one constant reference has the captured object as its context, and no context
    /// of its own. An optional constant gets such a context, too, and is taken for a box.
    let isVariable: Bool

    /// The number of bytes to read from a context.
    var size: Int { captures.last?.end ?? 0 }

    /// `nil` without a descriptor, for example without reflection metadata.
    init?(offset: Int, descriptor address: UInt) {
        guard offset < 1 << 16, CompiledRecords.isCaptureDescriptor(address),
            let count = Memory.load(UInt32.self, at: address), count < 1024,
            let bindings = Memory.load(UInt32.self, at: address &+ 8), bindings < 64
        else { return nil }
        // Behind the object's header stands the metadata of generic parameters. `offset` is 0 for a
        // layout known only at run time, as for values of libraries that may change. Then the
        // captures follow the header of 16 bytes.
        var end = max(offset, 16) + 8 * Int(bindings)
        for index in 0..<UInt(count) {
            guard let name = MangledName(at: Memory.relative(at: address &+ 12 &+ 4 * index)) else {
                return nil
            }
            guard let capture = Capture(name, behind: end) else {
                isComplete = false
                break
            }
            captures.append(capture)
            end = capture.end
        }
        isVariable = count == 1 && captures.first?.isReference == true
    }

    /// The strong references of a context: its captures in order, as far as their types are known.
    func references(in bytes: [UInt8]) -> [HeapObject.Reference] {
        captures.flatMap { $0.layout.references(in: bytes, at: $0.offset) }
    }

    /// The meaning of the word at a place in a context.
    func meaning(of place: Int, in bytes: [UInt8]) -> WordMeaning {
        let capture = captures.first { $0.offset <= place && place < $0.end }
        guard let capture else {
            let isBefore = place < (captures.first?.offset ?? 16)
            return WordMeaning(isComplete || isBefore ? .none : .unknown)
        }
        return capture.layout.meaning(of: place - capture.offset, in: bytes, at: capture.offset)
    }

    /// The place and layout of one capture.
    private struct Capture: Sendable {
        let offset: Int
        let end: Int
        let layout: TypeLayout

        var isReference: Bool { end - offset == 8 && !layout.isNone }

        init?(_ name: MangledName, behind previous: Int) {
            var size = 8
            var alignment = 8
            if let kind = name.functionKind {
                size = kind == .thin ? 8 : 16
                layout = kind == .thin ? .none : .function
            } else if name.isBox || name.isStrong && name.isReference {
                layout = .reference
            } else if let type = name.type, let itsSize = type.size,
                let itsAlignment = type.alignment
            {
                size = itsSize
                alignment = itsAlignment
                layout = name.isStrong ? TypeLayout.value(of: type) : .none
            } else if name.isStrong || name.isExistential {
                return nil
            } else {
                // One reference that is not strong, to an object of any class.
                layout = .none
            }
            offset = (previous + alignment - 1) & ~(alignment - 1)
            end = offset + size
        }
    }
}
