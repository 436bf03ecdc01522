internal import Synchronization

/// What one level of posting or draining on a thread tells the others.
///
/// SAFETY: `next` points to a frame that is never freed.
@safe struct PostingFrame: ~Copyable {
    /// The address of the center whose observers are being called; 0 while the frame is free, 1 in a drain.
    let center = Atomic<UInt>(0)
    /// The center's era when the post began.
    let begin = Atomic<UInt64>(0)
    /// The address of the registration that is about to be called, or is running.
    let registration = Atomic<UInt>(0)
    /// The frame of the next level.
    let next = unsafe Atomic<UnsafeMutablePointer<PostingFrame>?>(nil)
}
