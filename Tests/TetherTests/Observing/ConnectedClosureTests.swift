import Dispatch
import Foundation
import Testing
import Tether

/// Closures that are connected to an object, and take it alone.
@Suite(.timeLimit(.minutes(5))) struct ConnectedClosureTests {
    final class Catalog: Sendable {
        let log = Log<String>()

        func reload() { log.add("reloaded") }
    }

    @MainActor final class Sidebar {
        private(set) var reloads = 0

        func reload() {
            MainActor.preconditionIsolated()
            reloads += 1
        }
    }

    @Test func `O1 O2 M4 a closure is called with its object for the sender that is given, and ends with the object`() {
        let (center, sender, catalog) = (ObserverCenter(), Catalog(), Holder(Catalog()))
        let log = catalog.object!.log
        center.connect(.sample, from: sender, to: catalog.object!) { $0.reload() }
        center.post(name: .sample, object: sender)
        center.post(name: .sample, object: Catalog())
        #expect(log.entries == ["reloaded"])
        #expect(center.audit().first?.owner != nil)
        catalog.release()
        #expect(center.audit().isEmpty)
        center.post(name: .sample, object: sender)
        #expect(log.entries == ["reloaded"])
    }

    @Test func `D2 R7 M7 it has the target, the key and the end of any observer`() {
        let (center, catalog, queue) = (ObserverCenter(), Catalog(), DispatchQueue(label: "queue"))
        center.connect(.sample, to: catalog, key: "key") { $0.log.add("replaced") }
        let token = center.connect(.sample, to: catalog, on: .dispatchQueue(queue), once: true, key: "key") {
            dispatchPrecondition(condition: .onQueue(queue))
            $0.reload()
        }
        for _ in 1...2 { center.post(name: .sample, object: nil) }
        queue.sync {}
        #expect(catalog.log.entries == ["reloaded"])
        #expect(!token.isActive)
    }

    @Test @MainActor func `P1 one for the main actor is isolated to it, whoever posts`() async {
        let (center, sidebar) = (ObserverCenter(), Sidebar())
        let token = center.connect(.sample, to: sidebar, on: .mainActor) { $0.reload() }
        await Task.detached { center.post(name: .sample, object: nil) }.value
        while sidebar.reloads == 0 { await Task.yield() }
        #expect(sidebar.reloads == 1)
        #expect(token.isActive)
    }

    @Test func `O3 R5 one that is connected by a property takes the place of its handler, and its object is not held`()
    {
        let (center, log, catalog) = (ObserverCenter(), Log<String>(), Holder(Catalog()))
        let reloads = catalog.object!.log
        let observer = NotificationObserver(center: center)
        observer.observe(.sample) { _ in log.add("handled") }
        observer.connect(.sample, to: catalog.object!) { $0.reload() }
        center.post(name: .sample, object: nil)
        #expect(log.entries.isEmpty && reloads.entries == ["reloaded"])
        catalog.release()
        #expect(center.audit().isEmpty && !observer.isActive)
    }
}
