import Testing
import Tether
import TetherVerification

@testable import Notes

/// Every test fails if a view, a window or an observer is left when it has returned.
@Suite(.verifiesNoLeaks) @MainActor struct NotesTests {
    private let center = ObserverCenter()

    @Test func `views show what was added`() {
        let notebook = Notebook(center: center)
        let window = track(Window(notebook, center: center))
        notebook.add("Buy milk")
        notebook.add("Write a test")
        #expect(window.list.text == "1. Buy milk\n2. Write a test")
        #expect(window.count.count == 2)
    }

    @Test func `a closed window lets its views go, and the notebook lives on`() {
        let notebook = Notebook(center: center)
        var window: Window? = track(Window(notebook, center: center))
        #expect(center.audit().count == 2)
        window = nil
        notebook.add("Nobody sees this")
        #expect(window == nil && center.audit().isEmpty)
    }
}
