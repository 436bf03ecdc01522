import Testing
import Tether
import TetherVerification

@testable import Notes

/// Every test fails if a view, a window or an observer is left when it has returned.
@Suite(.verifiesNoLeaks, .timeLimit(.minutes(5))) @MainActor struct NotesTests {
    // A center that outlives the tests, as in the app. A deallocated center would end its
    // observers, and hide leaks.
    private let center = ObserverCenter.default

    @Test func `views show what was added`() async {
        let notebook = Notebook(center: center)
        let window = track(Window(notebook, center: center))
        notebook.add("Buy milk")
        notebook.add("Write a test")
        // At once, unless other tests have something pending on the main queue, behind which this
        // comes (D3).
        while window.count.count < 2 { await Task.yield() }
        #expect(window.list.text == "1. Buy milk\n2. Write a test")
        #expect(window.count.count == 2)
    }

    @Test func `a closed window lets its views go, and the notebook lives on`() {
        let notebook = Notebook(center: center)
        var window: Window? = track(Window(notebook, center: center))
        weak let list = window?.list
        window = nil
        notebook.add("Nobody sees this")
        #expect(window == nil && list == nil)
    }
}
