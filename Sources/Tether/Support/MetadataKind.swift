/// The first word of a type's metadata, which the ABI fixes.
struct MetadataKind {
    let word: UInt

    @inline(__always)
    init(_ word: UInt) { self.word = word }

    /// Whether the type is a class: Swift's, one with an Objective-C `isa` in place of the kind, one that was written in
    /// Objective-C, or one of Core Foundation's.
    @inline(__always)
    var isClass: Bool { word == 0 || word > 0x7FF || word == 0x305 || word == 0x203 }

    /// Whether the type is a C++ class whose instances Swift sees as references: no objects of any Swift runtime.
    var isForeignReference: Bool { word == 0x204 }

    /// The kind of a type.
    static func of(_ type: Any.Type) -> MetadataKind {
        // SAFETY: a metatype is the address of the type's metadata, which is never freed.
        unsafe MetadataKind(unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee)
    }
}
