import Foundation
import Tether

extension Notification.Name {
    static let checked = Notification.Name("HookSafety.checked")
}

/// Lets an object escape, so the optimiser does not allocate it on the stack.
@inline(never)
func escape(_ object: AnyObject) { unsafe escaped = object }

/// Releases the escaped objects.
@inline(never)
func letGo() { unsafe escaped = nil }

nonisolated(unsafe) private var escaped: AnyObject?

/// A handler's capture.
final class Capture: Sendable {}

/// The checks, and the failures.
final class Checks {
    private(set) var count = 0
    private(set) var failures: [String] = []
    private let lock = NSLock()

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
        lock.withLock {
            count += 1
            if !condition { failures.append(what()) }
        }
    }

    /// Attaches to an object, posts, and releases the object. The observer must be called before,
    /// and ended after.
    @inline(never)
    func check(_ name: String, make: () -> AnyObject) {
        let center = ObserverCenter()
        nonisolated(unsafe) var calls = 0
        var capture: Capture? = Capture()
        weak let seen = capture
        let token = attachAndPost(center, capture!, make) { unsafe calls += 1 }
        capture = nil
        expect(token.isActive && seen != nil, "\(name): its observer ended early")
        letGo()
        expect(unsafe calls == 1, "\(name): its handler ran \(unsafe calls) times")
        expect(!token.isActive, "\(name): its observer outlived it")
        expect(seen == nil, "\(name): what its handler captured outlived it")
        expect(center.audit().isEmpty, "\(name): it left something behind")
    }

    @inline(never)
    private func attachAndPost(
        _ center: ObserverCenter, _ capture: Capture, _ make: () -> AnyObject,
        _ count: @escaping @Sendable () -> Void
    ) -> NotificationObserver {
        let object = make()
        escape(object)
        expect(
            OwnerLifetime.isExact(for: type(of: object)),
            "\(type(of: object)): its end cannot be seen")
        let token = center.observe(.checked, owner: object) { _, _ in
            withExtendedLifetime(capture) { count() }
        }
        center.post(name: .checked, object: nil)
        return token
    }
}
