import Foundation
import Testing

@testable import Tether

/// A center for posts: Tether's or Foundation's.
protocol PostingCenter: NotifyingCenter {
    func post(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]?)
}

extension PostingCenter {
    func post(_ name: Notification.Name, from sender: Any? = nil, number: Int = 0) {
        post(name: name, object: sender, userInfo: ["number": number])
    }
}

extension ObserverCenter: PostingCenter {
    /// Whether the center keeps no name, sender, key, registration or garbage (M9).
    var isEmpty: Bool { core.isEmpty }
}
extension NotificationCenter: PostingCenter {}

/// The centers for a test with a center as its argument.
enum CenterKind: CaseIterable, CustomTestStringConvertible {
    case tether, foundation

    func makeCenter() -> any PostingCenter {
        self == .tether ? ObserverCenter() : NotificationCenter()
    }

    var testDescription: String { self == .tether ? "ObserverCenter" : "NotificationCenter" }
}

extension NotificationObserver {
    /// The link to a foreign center, readable while the observer is active.
    var foreign: ForeignSubscription? {
        registration?.details?.hooks.first { $0 is ForeignSubscription } as? ForeignSubscription
    }
}

extension [ForeignSubscription] {
    /// How many closures the foreign center still has after all pending removals.
    func kept() -> Int {
        ForeignSubscription.settle()
        return count(where: \.isKept)
    }
}

extension ForeignSubscription {
    /// Whether the center has a closure, with a full or an emptied box.
    var isKept: Bool { state.withLock { $0.box?.retained } != nil }

    /// Returns when all closures have been removed whose observers had ended before.
    static func settle() { unsubscriber.sync {} }

    /// Suspends the removals of the queue until a gate opens. Removals of other tests come first.
    static func hold(until gate: Latch) {
        let isHeld = Latch()
        unsubscriber.async {
            isHeld.open()
            gate.pass()
        }
        isHeld.pass()
    }
}
