// A small app with a model and views, and tests that fail if a view is not deallocated
// (Tests/NotesTests.swift).
//
// `NOTES_LEAK=1 swift test --filter NotesTests` plants the classic leak, and shows the sentence of
// the failed test.
//
// Prints: 2 notes, 2 observers
// Prints: window closed: 0 observers

import Foundation
import Tether

extension Notification.Name {
    static let notebookDidChange = Notification.Name("notebookDidChange")
}

/// The model: notes, in order. Every change is posted on the main actor.
@MainActor final class Notebook {
    private(set) var notes: [String] = []
    private let center: ObserverCenter

    init(center: ObserverCenter) {
        self.center = center
    }

    func add(_ note: String) {
        notes.append(note)
        center.post(name: .notebookDidChange, object: self, userInfo: ["note": note])
    }
}

/// A view of all notes. If the main queue has no other work, the view is up to date when the
/// model's post returns.
@MainActor final class ListView {
    private(set) var text = ""

    init(_ notebook: Notebook, center: ObserverCenter) {
        center.observe(.notebookDidChange, from: notebook, owner: self, on: .mainActor) {
            view, note in
            view.show((note.object as? Notebook)?.notes ?? [])
        }
    }

    private func show(_ notes: [String]) {
        text = notes.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n")
    }
}

/// A view of the number of notes.
@MainActor final class CountView {
    private(set) var count = 0

    init(_ notebook: Notebook, center: ObserverCenter) {
        if ProcessInfo.processInfo.environment["NOTES_LEAK"] != nil {
            // The leak: the handler captures the view, and the center retains the handler while the
            // view lives. An observer with a sender would end with the sender at the latest.
            center.observe(.notebookDidChange, owner: self, on: .mainActor) { _, _ in
                self.count += 1
            }
        } else {
            center.observe(.notebookDidChange, from: notebook, owner: self, on: .mainActor) {
                view, _ in
                view.count += 1
            }
        }
    }
}

/// A window, which alone retains the views.
@MainActor final class Window {
    let list: ListView
    let count: CountView

    init(_ notebook: Notebook, center: ObserverCenter) {
        list = ListView(notebook, center: center)
        count = CountView(notebook, center: center)
    }
}

@main @MainActor struct Notes {
    static func main() {
        let center = ObserverCenter()
        let notebook = Notebook(center: center)
        var window: Window? = Window(notebook, center: center)
        notebook.add("Buy milk")
        notebook.add("Write a test")
        print(window?.list.text ?? "")
        print("\(window?.count.count ?? 0) notes, \(center.audit().count) observers")
        window = nil
        notebook.add("Nobody sees this")
        print("window closed: \(center.audit().count) observers")
    }
}
