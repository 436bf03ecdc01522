/// A part of the model that lives as long as something holds it, counted by hand: the model is to say when things end,
/// not the compiler.
class Counted {
    private var holders = 1
    private(set) var hasGone = false

    final func hold() { holders += 1 }

    final func letGo() {
        holders -= 1
        guard holders == 0, !hasGone else { return }
        hasGone = true
        ended()
    }

    /// Holds it while something is done.
    final func whileHeld(_ body: () -> Void) {
        hold()
        body()
        letGo()
    }

    /// Called when nothing holds it any more.
    func ended() {}
}
