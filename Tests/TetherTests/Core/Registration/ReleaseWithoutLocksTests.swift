import Foundation
import Testing
import Tether

/// Values of a user are released where their `deinit` may use the center.
@Suite(.ownThread) struct ReleaseWithoutLocksTests {
    private final class Object: Sendable {}

    /// A value that is compared by its number, and retains an object with a `deinit`.
    private struct Tagged: Hashable, Sendable {
        let number: Int
        let tag: Ending

        static func == (a: Tagged, b: Tagged) -> Bool { a.number == b.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    private let center = ObserverCenter()
    private let releases = Log<String>()

    /// An object whose `deinit` uses the center in all ways.
    private func tag(_ label: String = "released") -> Ending {
        // Weak, because the object may be released by the end of the center.
        Ending { [weak center, releases] in
            releases.add(label)
            guard let center else { return }
            let owner = Object()
            center.post(name: .sample, object: owner)
            center.post(name: .other, object: 7)
            center.observe(.sample, from: owner, key: "in a deinit") { _ in }.cancel()
            center.observe(.sample, owner: owner, key: "in a deinit") { _, _ in }
            _ = center.addObserver(forName: .other, object: 7, queue: OperationQueue()) { _ in }
            center.removeObservers(named: Notification.Name("nobody's"))
            center.removeObserver(owner)
            _ = center.audit().description
            OwnerObservers(of: owner).cancel()
            OwnerLifetime.purge()
        }
    }

    private func handler(capturing tag: Ending) -> @Sendable (Notification) -> Void {
        { _ in tag.touch() }
    }

    @Test func `R6 R8 a captured object that is released by cancel may use the center`() {
        let token = center.observe(.sample, handler(capturing: tag()))
        token.cancel()
        #expect(releases.entries == ["released"])
        #expect(center.isEmpty)
    }

    @Test func `R6 M7 a captured object that is released by a replacement may use the center`() {
        let first = center.observe(.sample, key: 1, handler(capturing: tag()))
        let second = center.observe(.sample, key: 1) { _ in }
        #expect(releases.entries == ["released"])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `R6 R10 an object released with the center may use the rest of the center`() {
        let other = center
        let holder = Box(optional: ObserverCenter())
        let log = releases
        let token = {
            let captured = Ending {
                other.post(name: .sample, object: nil)
                log.add("released")
            }
            return holder.value!.observe(.sample, handler(capturing: captured))
        }()
        holder.drop()
        #expect(releases.entries == ["released"])
        #expect(!token.isActive)
    }

    @Test func `R6 a captured object that is released when a post ends may use the center`() {
        let (token, releases) = (Box<NotificationObserver?>(), releases)
        do {
            let captured = tag()
            token.set(
                center.observe(.sample) { _ in
                    captured.touch()
                    token.value?.cancel()
                    releases.add("stopped")
                })
        }
        center.post(name: .sample, object: nil)
        #expect(releases.entries == ["stopped", "released"])
        token.drop()
    }

    @Test func `R6 a value sender's own object may use the center when its observers end`() {
        let tokens = (0..<3).map { number in
            let sender = Tagged(number: number / 2, tag: tag("\(number)"))
            return center.addObserver(
                forName: number == 1 ? nil : .sample, object: sender, queue: nil
            ) { _ in }
        }
        for token in tokens { token.cancel() }
        #expect(releases.entries.sorted() == ["0", "1", "2"])
        #expect(center.isEmpty)
    }

    @Test func `R6 M7 a key's object may use the center when its observer ends or is replaced`() {
        let owner = Box(optional: Object())
        let first = center.observe(.sample, key: Tagged(number: 1, tag: tag("first"))) { _ in }
        let second = center.observe(.sample, key: Tagged(number: 1, tag: tag("second"))) { _ in }
        center.observe(.sample, owner: owner.value!, key: Tagged(number: 1, tag: tag("owned"))) {
            _, _ in
        }
        #expect(releases.entries == ["first"])
        second.cancel()
        #expect(releases.entries == ["first", "second"])
        owner.drop()
        #expect(releases.entries == ["first", "second", "owned"])
        #expect(center.isEmpty)
        withExtendedLifetime(first) {}
    }

    @Test func `R6 D6 a target that is switched away from may use its observer`() {
        let log = releases
        let token = center.observe(.sample) { _ in }
        func scheduler(_ label: String) -> ManualScheduler {
            ManualScheduler { [unowned token] in
                log.add("\(label) \(token.isActive)")
                _ = token.target
            }
        }
        token.target = .custom(scheduler("first"))
        token.target = .custom(scheduler("second"))
        token.target = .postingThread
        #expect(releases.entries == ["first true", "second true"])
    }
}
