import Foundation
import Tether

// As MovedOver.swift: with `NotificationCenter` and `NotificationQueue` in place of `ObserverCenter` and `PostingQueue`, and
// without the import of Tether, this file compiles unchanged. It has the calls that programs make of a center and a queue,
// each in one place.

extension Notification.Name {
    static let accountDidSignIn = Notification.Name(rawValue: "accountDidSignIn")
    static let accountDidSignOut = Notification.Name("accountDidSignOut")
    static let accountsNeedRefresh = NSNotification.Name("accountsNeedRefresh")
}

extension ObserverCenter {
    /// A program's own addition to the center.
    func post(each name: Notification.Name, objects: [Any?], userInfo: [AnyHashable: Any]? = nil) {
        for object in objects { post(name: name, object: object, userInfo: userInfo) }
    }
}

/// What an account is told apart by: a value, which is posted as the object of a notification.
struct AccountID: Hashable, Sendable {
    let number: Int
}

/// Has its center injected, tokens in optionals, arrays and sets, and removes by hand.
final class AccountWatcher: @unchecked Sendable {
    private let center: ObserverCenter
    private let lines: DocumentLog.Lines
    private var signInObserver: (any NSObjectProtocol)?
    private var signOutObserver: Any?
    private var observers = [any NSObjectProtocol]()

    init(_ center: ObserverCenter = .default, lines: DocumentLog.Lines) {
        self.center = center
        self.lines = lines
    }

    func start(account: AnyObject?) {
        signInObserver = center.addObserver(forName: .accountDidSignIn, object: account, queue: nil) {
            [weak self] note in
            self?.signedIn(note)
        }
        signOutObserver = center.addObserver(forName: Notification.Name.accountDidSignOut, object: nil, queue: nil) {
            [weak self] _ in self?.lines.add("signed out")
        }
        let names: [Notification.Name?] = [.accountsNeedRefresh, nil]
        observers = names.map { name in
            center.addObserver(
                forName: name, object: nil, queue: nil, using: { [lines] in lines.add("\($0.name.rawValue)") })
        }
    }

    private func signedIn(_ note: Notification) {
        let number = (note.object as? AccountID)?.number ?? note.userInfo?["number"] as? Int
        lines.add("signed in \(number ?? -1)")
    }

    func stopRefreshing() {
        for token in observers { center.removeObserver(token, name: .accountsNeedRefresh, object: nil) }
    }

    func stop() {
        for observer in [signInObserver, signOutObserver as? NSObjectProtocol].compactMap({ $0 }) {
            center.removeObserver(observer)
        }
        if let token = signOutObserver { center.removeObserver(token) }
        observers.forEach(center.removeObserver)
        // Nothing of it is registered by its own name; to be sure.
        center.removeObserver(self)
        center.removeObserver(self, name: .accountDidSignIn, object: nil)
        (signInObserver, signOutObserver, observers) = (nil, nil, [])
    }
}

/// Posts now, soon, and when there is nothing else to do.
enum AccountRefresh {
    static func postNow(_ queue: PostingQueue, object: Any?) {
        let notification = Notification(name: .accountsNeedRefresh, object: object)
        queue.enqueue(notification, postingStyle: .now)
        queue.enqueue(notification, postingStyle: .now, coalesceMask: [], forModes: [.default])
    }

    static func postSoon(_ queue: PostingQueue, object: Any?) {
        let notification = Notification(name: .accountsNeedRefresh, object: object)
        for _ in 0..<3 { queue.enqueue(notification, postingStyle: .asap) }
        queue.enqueue(notification, postingStyle: .asap, coalesceMask: .onName, forModes: nil)
        queue.enqueue(notification, postingStyle: .whenIdle, coalesceMask: [.onName, .onSender], forModes: [.common])
    }

    static func forget(_ queue: PostingQueue, object: Any?) {
        queue.dequeueNotifications(
            matching: Notification(name: .accountsNeedRefresh, object: object), coalesceMask: [.onName])
    }

    static var ofThisThread: PostingQueue { PostingQueue.default }

    static func queue(for center: ObserverCenter) -> PostingQueue { PostingQueue(notificationCenter: center) }
}
