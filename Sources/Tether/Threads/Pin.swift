internal import Synchronization

/// What one post, or one drain, announces to other threads while it is under way, as in epoch-based reclamation.
///
/// SAFETY: `outer` and `next` point to pins that are never freed.
@safe struct Pin: ~Copyable {
    /// The address of the center whose observers are being called; 0 while the pin is free, 1 in a drain.
    let center = Atomic<UInt>(0)
    /// The center's epoch when the post began.
    let epoch = Atomic<UInt64>(0)
    /// The address of the registration that is about to be called, or is running.
    let registration = Atomic<UInt>(0)
    /// The pin of what begins inside of this one: a handler may post.
    let next = unsafe Atomic<UnsafeMutablePointer<Pin>?>(nil)
    /// The pin that this is the `next` of; touched by its thread alone.
    let outer: UnsafeMutablePointer<Pin>?

    init(inside outer: UnsafeMutablePointer<Pin>?) { unsafe self.outer = unsafe outer }
}

extension Atomic<UInt> {
    /// Stores what other threads look for, in front of the look at `tether_attention`.
    ///
    /// On ARM64 that look does not pass this, which is the same instruction as a release there.
    @inline(__always)
    borrowing func announce(_ value: UInt) {
        #if arch(arm64) || arch(arm64_32)
        store(value, ordering: .sequentiallyConsistent)
        #else
        store(value, ordering: .releasing)
        #endif
    }
}
