@testable import Tether

/// A strong reference. The test decides when it is released.
///
/// SAFETY: a test that shares a holder between threads orders the uses with latches.
final class Holder<Object: AnyObject>: @unchecked Sendable {
    var object: Object?

    init(_ object: Object? = nil) {
        self.object = object
    }

    /// Not inlined, so that the optimiser cannot delay the release.
    @inline(never)
    func release() {
        // Set to `nil` first, so that the object's `deinit` may use the holder.
        let last = object.take()
        withExtendedLifetime(last) {}
    }
}

/// Reserves an object's address, so that a test can look the object up after its deallocation.
final class ObjectProbe: Sendable {
    private let reference: ObjectReference<AnyObject>
    private let identity: ObjectIdentifier

    init(_ object: AnyObject) {
        reference = ObjectReference(object)
        identity = ObjectIdentifier(object)
    }

    var isDeallocated: Bool { reference.retained == nil }

    /// Whether the side table keeps anything for the object.
    var hasRecord: Bool { ObjectTable.shared.hasRecord(of: identity) }
}

/// Whether an owner's observers end after the body of its `deinit`, before the memory is freed
/// (O3).
#if canImport(ObjectiveC)
let endsFollowDeinit = true
#else
let endsFollowDeinit = false
#endif
