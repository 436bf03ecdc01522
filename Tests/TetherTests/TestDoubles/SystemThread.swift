import Foundation

/// A thread of the system, which can be waited for whatever ends it.
///
/// SAFETY: `thread` is written before the initialiser returns, and not used by the thread itself; `join` is called once.
@safe final class SystemThread: @unchecked Sendable {
    /// A `pthread_t`, which is optional on some systems when it is written.
    private let thread = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<pthread_t>.size, alignment: MemoryLayout<pthread_t>.alignment)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        // SAFETY: the thread takes the retain that is handed to it.
        let result = unsafe pthread_create(
            identity(), nil,
            {
                let context: UnsafeMutableRawPointer? = unsafe $0
                unsafe Unmanaged<SystemThread>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0)
    }

    private func identity<Identity>() -> UnsafeMutablePointer<Identity> {
        unsafe thread.assumingMemoryBound(to: Identity.self)
    }

    func join() {
        _ = unsafe pthread_join(identity().pointee, nil)
        unsafe thread.deallocate()
    }
}
