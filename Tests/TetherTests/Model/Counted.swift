/// A part of the model with a reference count of its own: the model decides about deallocations,
/// not the compiler.
class Counted {
    private var references = 1
    private(set) var isDeallocated = false

    final func retain() { references += 1 }

    final func release() {
        references -= 1
        guard references == 0, !isDeallocated else { return }
        isDeallocated = true
        deallocated()
    }

    /// Retains the object while `body` runs.
    final func retained(_ body: () -> Void) {
        retain()
        body()
        release()
    }

    /// Called when the last reference is released.
    func deallocated() {}
}
