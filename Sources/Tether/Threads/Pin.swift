internal import Synchronization

/// What one post, or one drain, announces to other threads while it is under way, as in epoch-based reclamation.
///
/// SAFETY: `next` points to a pin that is never freed.
@safe struct Pin: ~Copyable {
    /// The address of the center whose observers are being called; 0 while the pin is free, 1 in a drain.
    let center = Atomic<UInt>(0)
    /// The center's epoch when the post began.
    let epoch = Atomic<UInt64>(0)
    /// The address of the registration that is about to be called, or is running.
    let registration = Atomic<UInt>(0)
    /// The pin of what begins inside of this one: a handler may post.
    let next = unsafe Atomic<UnsafeMutablePointer<Pin>?>(nil)
}
