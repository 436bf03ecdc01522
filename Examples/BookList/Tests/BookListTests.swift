import Observation
import Synchronization
import Testing
import Tether
import TetherVerification

@testable import BookList

/// A test fails if a screen, a model or an observer is left when the test returns.
@Suite(.verifiesNoLeaks, .timeLimit(.minutes(5))) @MainActor struct BookListTests {
    // The center outlives the tests, as in the app. A deallocated center would end its observers,
    // and hide leaks.
    private let center = ObserverCenter.default

    @Test func `a book that another thread adds is on the screen`() async {
        let library = Library(center: center)
        let screen = track(Screen(BookList(of: library, center: center)))
        await Task.detached { library.add("Emma") }.value
        await screen.shows("shows Emma")
        #expect(screen.list.books == ["Emma"])
    }

    @Test func `a view is notified of two changes once, until it looks again`() async {
        let library = Library(center: center)
        let list = BookList(of: library, center: center)
        let changes = Mutex(0)
        withObservationTracking {
            _ = list.found
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        library.add("Emma")
        library.add("Middlemarch")
        while list.found.count < 2 { await Task.yield() }
        #expect(changes.withLock { $0 } == 1)
    }

    @Test func `a closed screen releases its model, and the library lives on`() {
        let library = Library(center: center)
        var screen: Screen? = track(Screen(BookList(of: library, center: center)))
        weak let list = screen?.list
        screen = nil
        library.add("Nobody sees this")
        #expect(list == nil && library.books.count == 1)
    }
}
