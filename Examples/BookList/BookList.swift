// A model for SwiftUI. It observes a library while a screen shows the model, and views follow its
// properties.
//
// Any thread may change the library. The model is on the main actor, and owns its observer. So the
// observer ends with the model, and no view removes anything. `Screen` stands for a view of
// SwiftUI, and follows the model as SwiftUI does.
//
// Prints: shows nothing
// Prints: shows Emma
// Prints: shows Emma, Middlemarch
// Prints: shows Middlemarch
// Prints: screen closed: 0 observers

import Foundation
import Observation
import Synchronization
import Tether

extension Notification.Name {
    static let libraryDidChange = Notification.Name("libraryDidChange")
}

/// Books, added on any thread. The changing thread posts each change.
final class Library: Sendable {
    private let state = Mutex<[String]>([])
    private let center: ObserverCenter

    init(center: ObserverCenter) {
        self.center = center
    }

    var books: [String] { state.withLock { $0 } }

    func add(_ book: String) {
        state.withLock { $0.append(book) }
        center.post(name: .libraryDidChange, object: self)
    }
}

/// The model of a screen. A view of SwiftUI retains the model: `@State private var list =
/// BookList(of: library)`.
@Observable @MainActor final class BookList {
    var search = ""
    private(set) var books: [String] = []

    var found: [String] { books.filter { search.isEmpty || $0.contains(search) } }

    init(of library: Library, center: ObserverCenter = .default) {
        // Observing begins before the library is read, so no change is missed.
        center.observe(.libraryDidChange, from: library, owner: self, on: .mainActor) {
            list, note in
            list.books = (note.object as? Library)?.books ?? []
        }
        books = library.books
    }
}

/// A view reads properties of its model, and reads them again after a change.
@MainActor final class Screen {
    let list: BookList
    private(set) var text = ""

    init(_ list: BookList) {
        self.list = list
        draw()
    }

    private func draw() {
        withObservationTracking {
            text = "shows " + (list.found.isEmpty ? "nothing" : list.found.joined(separator: ", "))
        } onChange: { [weak self] in
            // The property still has its old value.
            Task { @MainActor in self?.draw() }
        }
    }

    /// Returns when the screen shows a text.
    func shows(_ awaited: String) async {
        while text != awaited { await Task.yield() }
    }
}

@main @MainActor struct Books {
    static func main() async {
        let center = ObserverCenter()
        let library = Library(center: center)
        var screen: Screen? = Screen(BookList(of: library, center: center))
        print(screen?.text ?? "")
        for (book, text) in [("Emma", "shows Emma"), ("Middlemarch", "shows Emma, Middlemarch")] {
            await Task.detached { library.add(book) }.value
            await screen?.shows(text)
            print(screen?.text ?? "")
        }
        screen?.list.search = "march"
        await screen?.shows("shows Middlemarch")
        print(screen?.text ?? "")
        screen = nil
        library.add("Nobody sees this")
        print("screen closed: \(center.audit().count) observers")
    }
}
