/// The objects that run loops are to call, by what they have in their place: a source or observer that is called on one thread
/// while its object goes on another finds nothing, instead of something freed.
final class RunLoopTable<Object: AnyObject & Sendable>: Sendable {
    private struct Weak: Sendable { weak var object: Object? }

    private let objects = Locked<[RunLoopInfo: Weak]>([:])

    func insert(_ object: Object, for info: RunLoopInfo) { objects.withLock { $0[info] = Weak(object: object) } }

    func remove(_ info: RunLoopInfo) { objects.withLock { $0[info] = nil } }

    /// The object whose `info` a callback was given, if it is still there.
    func object(_ info: UnsafeMutableRawPointer?) -> Object? {
        let info = unsafe RunLoopInfo(info)
        return objects.withLock { $0[info]?.object }
    }
}
