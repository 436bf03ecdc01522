// A small app with a model and views, and tests that fail if a view is not deallocated
// (Tests/NotesTests.swift).
//
// `NOTES_LEAK=1 swift test --filter NotesTests` plants the classic leak, and shows what the failure
// says.
//
// Prints: 2 notes, 2 observers
// Prints: window closed: 0 observers

import Foundation
import Tether

extension Notification.Name {
    static let notebookDidChange = Notification.Name("notebookDidChange")
}

/// The model: notes, in order. It posts on the main actor whenever it has changed.
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

/// A view of all notes, which is up to date when the model has posted, if nothing else waits for
/// the main queue.
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

/// A view of how many notes there are.
@MainActor final class CountView {
    private(set) var count = 0

    init(_ notebook: Notebook, center: ObserverCenter) {
        if ProcessInfo.processInfo.environment["NOTES_LEAK"] != nil {
            // The leak: the handler captures the view, and the center keeps the handler as long as
            // the view lives. With a sender it would end with that, at the latest.
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

/// A window: it has the views, and nothing else has them.
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
