#if os(Linux)

import Testing

/// Async handlers of every isolation, compiled as a user's code.
@Suite struct AsyncHandlerSnippetTests {
    private static let program = """
        import Foundation
        import Tether

        @globalActor actor Kitchen { static let shared = Kitchen() }

        @MainActor final class Window {
            var title = ""
            func changed(_ note: Notification) async { title = "changed" }
            func closed() { title = "closed" }
        }

        actor Index {
            func closed() async {}
            func observe(_ center: ObserverCenter) {
                center.observe(nil, owner: self) { index, _ in await index.closed() }
            }
        }

        struct WindowDidMove: NotificationCenter.AsyncMessage { typealias Subject = Window }

        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<WindowDidMove> { static var didMove: Self { .init() } }

        nonisolated func save() async {}
        @MainActor func saveThere(_ note: Notification) async {}
        @MainActor func keepThere(_ window: Window, _ note: Notification) async {}
        @Sendable nonisolated func saveAnywhere(_ note: Notification) async {}
        @Sendable nonisolated func keepAnywhere(_ window: Window, _ note: Notification) async {}
        @Sendable nonisolated func movedAnywhere(_ message: WindowDidMove) async {}
        @Sendable nonisolated func moveAnywhere(_ window: Window, _ message: WindowDidMove) async {}

        nonisolated func use(_ center: ObserverCenter, _ small: some NotifyingCenter, _ window: Window, _ index: Index) {
            _ = center.observe(nil) { _ in await save() }
            _ = center.observe(nil) { @MainActor note in await window.changed(note) }
            _ = center.observe(nil, once: true, key: 1) { @Kitchen _ in await save() }
            _ = small.observe(nil) { await saveAnywhere($0) }
            center.observe(nil, owner: window) { window, _ in await window.closed() }
            center.observe(nil, owner: window) { @MainActor window, note in await window.changed(note) }
            center.observe(nil, owner: index) { index, _ in await index.closed() }
            small.observe(nil, from: index, owner: window) { await keepAnywhere($0, $1) }
            _ = center.observe(for: .didMove) { _ in await save() }
            _ = center.observe(of: window, for: .didMove) { await movedAnywhere($0) }
            center.observe(for: .didMove, owner: window) { @MainActor window, _ in
                window.closed()
                await save()
            }
            center.observe(for: .didMove, owner: window) { await moveAnywhere($0, $1) }
        }

        @MainActor func useThere(_ center: ObserverCenter, _ window: Window) {
            _ = center.observe(nil) { _ in await window.closed() }
            center.observe(nil, owner: window) { window, _ in await window.closed() }
        }

        """
    /// Statements that need the type of the parameter.
    private static let functionsOfTheMainActor = """

        nonisolated func useFunctions(_ center: ObserverCenter, _ window: Window) {
            _ = center.observe(nil, saveThere)
            center.observe(nil, owner: window, keepThere)
        }
        """

    /// With `NonisolatedNonsendingByDefault`, these functions are called in closures.
    private static let functionsOfNoActor = """

        nonisolated func useOthers(_ small: some NotifyingCenter, _ window: Window, _ index: Index) {
            _ = small.observe(nil, saveAnywhere)
            small.observe(nil, from: index, owner: window, keepAnywhere)
        }
        """

    @Test(
        arguments: [5, 6], [[], ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"]])
    func `P3 O9 async handlers of any isolation compile, as closures and as functions`(
        mode: Int, options: [String]
    ) throws {
        var program = AsyncHandlerSnippetTests.program
        if mode == 6 { program += AsyncHandlerSnippetTests.functionsOfTheMainActor }
        if options.isEmpty { program += AsyncHandlerSnippetTests.functionsOfNoActor }
        let text = try Compiler(mode: mode, options: options).diagnostics(of: program)
        #expect(text == "")
    }
}

#endif
