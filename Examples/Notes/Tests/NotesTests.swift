import Testing
import Tether
import TetherVerification

@testable import Notes

/// A test fails if a view, a window or an observer is left when the test returns.
@Suite(.verifiesNoLeaks, .timeLimit(.minutes(5))) @MainActor struct NotesTests {
    // The center outlives the tests, as in the app. A deallocated center would end its observers,
    // and hide leaks.
    private let center = ObserverCenter.default

    @Test func `views show added entries`() async {
        let notebook = Notebook(center: center)
        let window = track(Window(notebook, center: center))
        notebook.add("Buy milk")
        notebook.add("Write a test")
        // Inside the post, unless other tests have work on the main queue. The delivery is then
        // behind that work (D3).
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
