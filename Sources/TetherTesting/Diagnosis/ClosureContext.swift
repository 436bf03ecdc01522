internal import Tether

/// What a closure's context or a variable's box holds, as the compiler's capture descriptor tells.
struct ClosureContext {
    private let offset: Int
    private let descriptor: Descriptor

    /// The descriptor of contexts that one closure in the source makes (`Records.h`, `CaptureDescriptor`).
    ///
    /// SAFETY: immutable.
    private struct Descriptor: @unchecked Sendable {
        var captures: [MangledName] = []
        var parameters: [(name: String, source: String)] = []
        var bindings = 0
    }

    /// `nil` where there is no descriptor, as without reflection metadata.
    init?(metadata: UInt) {
        guard let offset = Memory.load(UInt32.self, at: metadata + 8),
            let address = Memory.load(UInt.self, at: metadata + 16),
            let descriptor = ClosureContext.descriptor(at: address)
        else { return nil }
        self.offset = Int(offset)
        self.descriptor = descriptor
    }

    private static let known = Guarded<[UInt: Descriptor]>([:])

    private static func descriptor(at address: UInt) -> Descriptor? {
        if let known = known.withLock({ $0[address] }) { return known }
        guard address != 0, let found = read(at: address) else { return nil }
        known.withLock { $0[address] = found }
        return found
    }

    private static func read(at address: UInt) -> Descriptor? {
        guard let captures = Memory.load(UInt32.self, at: address), captures < 1024,
            let sources = Memory.load(UInt32.self, at: address + 4), sources < 64,
            let bindings = Memory.load(UInt32.self, at: address + 8), bindings < 64
        else { return nil }
        var descriptor = Descriptor(bindings: Int(bindings))
        for index in 0..<UInt(captures) {
            guard let name = MangledName(at: Memory.relative(at: address + 12 + 4 * index)) else { return nil }
            descriptor.captures.append(name)
        }
        let first = address + 12 + 4 * UInt(captures)
        for index in 0..<UInt(sources) {
            guard let name = MangledName(at: Memory.relative(at: first + 8 * index)),
                let source = MangledName(at: Memory.relative(at: first + 8 * index + 4))
            else { return nil }
            descriptor.parameters.append((name.text, source.text))
        }
        return descriptor
    }

    // MARK: Reading a context

    /// The strong references of a context: its captures in order, as far as their types are known.
    func references(in context: HeapObject) -> [HeapObject.Reference] {
        var references: [HeapObject.Reference] = []
        var position = offset + 8 * descriptor.bindings
        let environment = environment(of: context)
        for name in descriptor.captures {
            // Where one is not recognised, nobody knows where the next one is.
            guard let capture = Capture(name, in: environment) else { break }
            position = (position + capture.alignment - 1) & ~(capture.alignment - 1)
            if let bytes = Memory.bytes(at: context.address &+ UInt(bitPattern: position), count: capture.size) {
                references += capture.layout.references(in: bytes)
            }
            position += capture.size
        }
        return references
    }

    /// What the closure's generic parameters stand for, as far as the context binds them directly (`B0`, `B1`, …).
    private func environment(of context: HeapObject) -> GenericEnvironment {
        var environment = GenericEnvironment()
        for (name, source) in descriptor.parameters {
            guard source.hasPrefix("B"), let index = UInt(source.dropFirst()),
                let metadata = Memory.load(UInt.self, at: context.address + UInt(offset) + 8 * index)
            else { continue }
            environment.add(name, metadata: metadata)
        }
        return environment
    }

    /// The size and layout of one capture.
    private struct Capture {
        var size = 8
        var alignment = 8
        var layout = TypeLayout.none

        init?(_ name: MangledName, in environment: GenericEnvironment) {
            let (isFunction, isThin) = name.isFunction
            if isFunction {
                size = isThin ? 8 : 16
                layout = isThin ? .none : .function
            } else if name.isBox {
                layout = .reference
            } else {
                let type = environment.isEmpty ? name.type() : name.type(in: environment)
                if let type, let size = type.size, let alignment = type.alignment {
                    self.size = size
                    self.alignment = alignment
                    if name.ownership == .strong { layout = TypeLayout.value(of: type) }
                } else if name.ownership == .strong {
                    return nil
                }
            }
        }
    }
}
