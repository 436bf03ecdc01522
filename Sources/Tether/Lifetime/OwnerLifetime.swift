/// How exactly the end of an owner is seen.
///
/// Where a class's deallocation can be watched, observers of its instances end *before* the first line of the
/// instance's `deinit` runs (contract [O3](doc:Contract#O3)). On Linux that is done by the *deallocator hook*: the word
/// of the class's metadata that names its deallocating function is replaced by a function which tells Tether, then
/// calls the original. On Apple platforms an associated object tells it. Where neither works, dead owners' observers
/// still never run; they are collected by the sweep ([O10](doc:Contract#O10)).
///
/// A sender with an `isolated deinit` that was sent to its actor, or an actor that is kept until its job returns, is known
/// by its count of unowned references, which has not fallen yet, and is looked at again until it has. Should another
/// thread drop an `unowned` reference to it at that very moment, its observers end before that `deinit` has run, and do
/// not get what it posts. Of any sender, one that its `deinit` makes, and that stays, keeps the observers until it goes.
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
        /// Called before an object's `deinit`; what it returns is handed to `didEnd`, and `nil` asks for no such call.
        let willEnd: @convention(c) (_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
        /// Called when the `deinit` has run, with the count of unowned references that was there before it.
        let didEnd:
            @convention(c) (
                _ context: UnsafeMutableRawPointer, _ object: UnsafeMutableRawPointer, _ unownedBefore: Int
            ) -> Void
    }
}
