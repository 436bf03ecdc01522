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
