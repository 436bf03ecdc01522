/// The address of a registration. Addresses are only compared, never read through.
package struct RegistrationAddress: Hashable, Sendable {
    let bits: UInt

    /// No registration: a post that calls no handler.
    static var none: RegistrationAddress { RegistrationAddress(bits: 0) }

    @inline(__always)
    init(bits: UInt) { self.bits = bits }

    /// `registration`: a `Registration`, which lower layers do not know.
    @inline(__always)
    init(of registration: AnyObject) { bits = UInt(bitPattern: ObjectIdentifier(registration)) }
}

/// The address of a center's core, by which guards name the center of their post.
struct CenterAddress: Hashable, Sendable {
    let bits: UInt

    /// A target's block, a foreign center's call or an unmuting: each keeps its registrations, and
    /// needs no epoch.
    static var noCenter: CenterAddress { CenterAddress(bits: 1) }

    @inline(__always)
    init(bits: UInt) { self.bits = bits }

    /// `core`: a `CenterCore`, which lower layers do not know.
    @inline(__always)
    init(of core: AnyObject) { bits = UInt(bitPattern: ObjectIdentifier(core)) }
}
