// Three classic leaks and their cures. Each leak is printed with the sentence that would fail a
// test.

import Foundation
import Tether
import TetherTesting

extension Notification.Name {
    static let modelDidChange = Notification.Name("modelDidChange")
}

final class Sidebar: @unchecked Sendable {
    var token: NotificationObserver?
    var reloads = 0
    func reload() { reloads += 1 }
}

/// Stores a strong reference, like the classic delegate that should have been weak.
final class Model: @unchecked Sendable { var delegate: Sidebar? }

let center = ObserverCenter()

/// Runs a body in a scope of its own, and prints the leaks.
func check(_ title: String, _ body: () -> Void) {
    let findings = findLeaks(limits: .init(deliveryWait: .zero), body)
    print("\(title):")
    print(
        findings.isEmpty
            ? "    nothing is left" : findings.map { "    \($0)" }.joined(separator: "\n"))
}

// In debug builds such a handler can be reported at its registration, on the standard error.
ObserverCenter.warnsOfSelfCapture = true
check("1. The handler captures its owner") {
    let sidebar = Sidebar()
    center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
}
ObserverCenter.warnsOfSelfCapture = false
check("   Cure: the handler is handed its owner") {
    let sidebar = Sidebar()
    center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in sidebar.reload() }
}

check("2. The object keeps the token whose handler captures the object") {
    let sidebar = Sidebar()
    sidebar.token = center.observe(.modelDidChange) { _ in sidebar.reload() }
}
check("   Cure: a weak capture") {
    let sidebar = Sidebar()
    sidebar.token = center.observe(.modelDidChange) { [weak sidebar] _ in sidebar?.reload() }
}

check("3. The handler captures an object that holds the owner") {
    let (sidebar, model) = (Sidebar(), Model())
    model.delegate = sidebar
    center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in model.delegate?.reload() }
}
check("   Cure: the object comes with the notification") {
    let (sidebar, model) = (Sidebar(), Model())
    model.delegate = sidebar
    center.observe(.modelDidChange, from: model, owner: sidebar) { _, note in
        (note.object as? Model)?.delegate?.reload()
    }
    center.post(name: .modelDidChange, object: model)
}

print("\nWhat is left, as an audit:")
print(center.audit())
