import CAllocations
import Foundation
import Tether

extension Benchmarks {
    func addAndRemove() {
        for registered in sizes([0, 1000, 100_000]) {
            let (ours, theirs) = (ObserverCenter(), NotificationCenter())
            var kept: [Any] = []
            for _ in 0..<registered {
                kept.append(ours.observe(.measured) { _ in })
                kept.append(theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in })
            }
            compare(
                "add + remove", size: "\(registered)", goal: 0.2,
                Subject("Tether", count: 5_000) { for _ in 0..<$0 { ours.observe(.measured) { _ in }.stop() } },
                Subject("Foundation", count: 5_000) {
                    for _ in 0..<$0 {
                        theirs.removeObserver(theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in })
                    }
                })
            withExtendedLifetime(kept) {}
        }
    }

    func attachAndEnd() {
        for owners in sizes([0, 1000, 100_000]) {
            let (ours, theirs) = (ObserverCenter(), NotificationCenter())
            let kept = (0..<owners).map { _ in Plain() }
            for owner in kept { ours.observe(.measured, owner: owner) { _, _ in } }
            compare(
                "attach to an owner + the owner's end", size: "\(owners)", reference: "Foundation's add + remove",
                goal: 0.5,
                Subject("Tether", count: 5_000) {
                    for _ in 0..<$0 { ours.observe(.measured, owner: Plain()) { _, _ in } }
                },
                Subject("Foundation", count: 5_000) {
                    for _ in 0..<$0 {
                        theirs.removeObserver(theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in })
                    }
                })
            withExtendedLifetime(kept) {}
        }
    }

    func hookedClass() {
        final class Hooked {}
        final class Unhooked {}
        for attached in sizes([0, 100_000]) {
            let center = ObserverCenter()
            let owners = (0..<max(1, attached)).map { _ in Hooked() }
            for owner in owners { center.observe(.measured, owner: owner) { _, _ in } }
            if attached == 0 { center.removeObservers() }
            compare(
                "alloc + dealloc in a hooked class", size: "\(attached)", reference: "unhooked", goal: 1.2,
                Subject("Tether", count: 100_000) { for _ in 0..<$0 { keep(Hooked()) } },
                Subject("unhooked", count: 100_000) { for _ in 0..<$0 { keep(Unhooked()) } })
            withExtendedLifetime(owners) {}
        }
    }

    /// Live heap bytes per registration, the closure's context of 32 bytes included, counted by the allocator.
    func bytes() {
        guard heap_bytes_in_use() > 0 else { return note("bytes per registration: this allocator does not tell") }
        let count = 100_000
        func measure(_ body: () -> Any) -> Double {
            let before = heap_bytes_in_use()
            let kept = body()
            let after = heap_bytes_in_use()
            withExtendedLifetime(kept) {}
            return Double(Int(after) - Int(before)) / Double(count)
        }
        let (a, b) = (Plain(), Plain())
        let ours = ObserverCenter()
        let theirs = NotificationCenter()
        let foundation = measure {
            (0..<count).map { _ in
                theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in withExtendedLifetime((a, b)) {} }
            }
        }
        let plain = measure {
            (0..<count).map { _ in ours.observe(.measured) { _ in withExtendedLifetime((a, b)) {} } }
        }
        let owner = Plain()
        let attached = measure {
            for _ in 0..<count { ours.observe(.measured, owner: owner) { _, _ in withExtendedLifetime((a, b)) {} } }
            return owner
        }
        add(
            Row(
                "bytes per registration", size: "\(count)", value: plain, reference: foundation, "Foundation",
                goal: 0.95))
        add(
            Row(
                "bytes per registration, attached", size: "\(count)", value: attached, reference: foundation,
                "Foundation",
                goal: 1.4))
    }
}

/// Lets an object escape, so that it is not put on the stack or left out.
@inline(never)
func keep(_ object: AnyObject) { unsafe kept = object }

nonisolated(unsafe) private var kept: AnyObject?
