/// How exactly the end of an owner is seen.
///
/// Where a class's deallocation can be watched, observers of its instances end *before* the first line of the
/// instance's `deinit` runs (contract O3). On Linux that is done by the *deallocator hook*. It
/// replaces the word of the class's metadata that names its deallocating function. It calls Tether, then the original. On Apple platforms an associated object calls it. Where neither works, dead owners' observers
/// still never run; they are collected by the sweep (O10).
///
/// The observers of a sender end when its `deinit` has run. A `deinit` may be postponed: an `isolated` one that is sent to its
/// actor, or that of an actor that is kept until its job returns. Then they end when the last reference is released, and the
/// last posts of that sender may find no observer (M5).
public enum OwnerLifetime {
    /// Whether ends of owners are seen as they happen, in this process.
    ///
    /// Found out by watching the end of a private object, once that succeeds. Complexity: O(1).
    public static var isExact: Bool { isProven }

    /// Whether the end of an instance of exactly this class is seen as it happens.
    ///
    /// Puts the watch in place if it is not there yet. Subclasses answer for themselves.
    /// Complexity: O(1); a lock, the first time for each class. Any thread.
    /// - Parameter type: The class of the instances, not a superclass of it.
    public static func isExact(for type: AnyClass) -> Bool { isProven && install(on: type) }

    /// The callbacks about ends of watched objects, on the thread where each ends.
    ///
    /// SAFETY: plain functions that stay as long as the process.
    @safe struct Listener: Sendable {
        /// Called before an object's `deinit`. Its result is passed to `didEnd`; `nil` asks for no such call.
        let willEnd: @convention(c) (_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
        /// Called when the deallocating function has returned.
        let didEnd: @convention(c) (_ context: UnsafeMutableRawPointer) -> Void
    }
}
