import Dispatch
import Foundation
import Testing
import Tether

@testable import TetherTesting

/// The holders of leaked observers, drawn for Graphviz, for Mermaid and as a picture.
@Suite struct LeakPictureTests {
    final class Model: @unchecked Sendable {
        var delegate: Sidebar?
        var sidebars: [Sidebar] = []
        var action: (@Sendable () -> Void)?
    }

    final class Sidebar: @unchecked Sendable {
        var token: NotificationObserver?
        var model: Model?

        init() {}

        /// The tutorial's.
        init(model: Model, center: ObserverCenter) {
            model.delegate = self
            center.observe(.modelDidChange, owner: self, fileID: "App/Sidebar.swift", line: 6) {
                _, _ in
                model.delegate?.reload()
            }
        }

        func reload() {}
    }

    /// The captures are released with the owner at the end of each test.
    private let center = ObserverCenter()

    private func leaks(_ plant: () -> Void) async -> [LeakTracker.Leak] {
        await findLeaks(limits: .init(deliveryWait: .zero, holderSearch: .seconds(300))) { plant() }
    }

    /// The boxes and arrows of the first leak's flow chart.
    private func chart(_ plant: () -> Void) async -> [String] {
        let lines =
            await leaks(plant).first?.mermaid().split(separator: "\n").map { $0.dropFirst(4) } ?? []
        return lines.filter { $0.hasPrefix("box") }.map(String.init)
    }

    @discardableResult
    private func observe(
        owner: Sidebar, on target: DeliveryTarget = .postingThread,
        _ handler: @escaping @Sendable () -> Void
    ) -> NotificationObserver {
        center.observe(
            .modelDidChange, owner: owner, on: target, fileID: "App/Sidebar.swift", line: 5
        ) { _, _ in
            handler()
        }
    }

    // MARK: The tutorial's leak

    @Test func `L3 a leak is drawn as a circle from the handler over the properties on the way`()
        async
    {
        let model = Model()
        let leaks = await leaks { _ = Sidebar(model: model, center: center) }
        #expect(leaks.count == 1)
        #expect(
            leaks[0].mermaid() == """
                flowchart LR
                    classDef red fill:#ffd0c7,stroke:#555,color:#000
                    classDef yellow fill:#ffe9b3,stroke:#555,color:#000
                    classDef white fill:#ffffff,stroke:#555,color:#000
                    box0["handler of modelDidChange<br/>App/Sidebar.swift:6"]:::red
                    box1["Model"]:::white
                    box2["Sidebar<br/>owner given at App/Sidebar.swift:6"]:::yellow
                    box0 -->|"captures"| box1
                    box1 -->|"delegate"| box2
                    box2 -->|"keeps, while it lives"| box0

                """)
        #expect(
            leaks[0].dot() == """
                digraph {
                    rankdir=LR;
                    graph [fontname=Helvetica];
                    node [fontname=Helvetica, style=filled];
                    edge [fontname=Helvetica];
                    box0 [label="handler of modelDidChange\\nApp/Sidebar.swift:6", shape=box, fillcolor="#ffd0c7"];
                    box1 [label="Model", shape=box, fillcolor="#ffffff"];
                    box2 [label="Sidebar\\nowner given at App/Sidebar.swift:6", shape=box, fillcolor="#ffe9b3"];
                    box0 -> box1 [label="captures"];
                    box1 -> box2 [label="delegate"];
                    box2 -> box0 [label="keeps, while it lives"];
                }

                """)
        model.delegate = nil
    }

    @Test func `L3 the picture in the tutorial is that of the tutorial's leak`() async throws {
        let model = Model()
        let leaks = await leaks { _ = Sidebar(model: model, center: center) }
        model.delegate = nil
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/TetherTesting")
        let file = folder.appending(path: "TetherTesting.docc/leak.svg")
        // For an update of the pictures.
        if let folder = ProcessInfo.processInfo.environment["TETHER_PICTURES"] {
            try leaks[0].svg().write(
                toFile: "\(folder)/leak.svg", atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == leaks[0].svg())
        let page = try String(
            contentsOf: folder.appending(path: "TetherTesting.docc/FindingALeak.md"),
            encoding: .utf8)
        #expect(page.replacing("\n", with: " ").contains(leaks[0].description))
    }

    /// An object of a long path.
    final class Link: @unchecked Sendable { var next: AnyObject? }

    @Test func `L3 a path of ten objects is drawn in rows of three, and downwards`() async throws {
        let links = (0..<8).map { _ in Link() }
        for (link, next) in zip(links, links.dropFirst()) { link.next = next }
        let first = links[0]
        let leaks = await leaks {
            let sidebar = Sidebar(model: Model(), center: ObserverCenter())
            links[7].next = sidebar
            observe(owner: sidebar) { [first] in withExtendedLifetime(first) {} }
        }
        links[7].next = nil
        let leak = try #require(leaks.first)
        #expect(leak.mermaid().hasPrefix("flowchart TB\n"))
        #expect(leak.dot().contains("rankdir=TB;"))
        let picture = leak.svg()
        let boxes = picture.matches(of: /<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(38|26)"/)
        #expect(boxes.count == 10)
        #expect(Set(boxes.map(\.1)).count == 3)
        let width = try #require(picture.firstMatch(of: /width="(\d+)"/)?.1)
        #expect(Int(width)! < 838)
    }

    @Test func `L3 a picture of long names fits a page`() async throws {
        let link = LinkWithANameThatIsLongerThanMostNamesOfClasses()
        let leaks = await leaks {
            let sidebar = Sidebar(model: Model(), center: ObserverCenter())
            link.propertyWithALongName = sidebar
            observe(owner: sidebar) { [link] in withExtendedLifetime(link) {} }
        }
        link.propertyWithALongName = nil
        let leak = try #require(leaks.first)
        let width = try #require(leak.svg().firstMatch(of: /width="(\d+)"/)?.1)
        #expect(Int(width)! < 1200)
    }

    final class LinkWithANameThatIsLongerThanMostNamesOfClasses: @unchecked Sendable {
        var propertyWithALongName: AnyObject?
    }

    // MARK: Every kind

    @Test func `L3 a token is drawn that its own handler, another handler or an object holds`()
        async
    {
        let own = await chart {
            let sidebar = Sidebar()
            sidebar.token = center.observe(.modelDidChange, fileID: "App/Sidebar.swift", line: 5) {
                _ in
                sidebar.reload()
            }
        }
        #expect(
            own == [
                "box0[\"handler of modelDidChange<br/>App/Sidebar.swift:5\"]:::red",
                "box1[\"Sidebar\"]:::white",
                "box2[\"token for modelDidChange<br/>App/Sidebar.swift:5\"]:::yellow",
                "box0 -->|\"captures\"| box1", "box1 -->|\"token\"| box2",
                "box2 -->|\"keeps, while it lives\"| box0",
            ])
        let others = await leaks {
            let (sidebar, tracked) = (Sidebar(), track(Sidebar(), "the tracked one"))
            sidebar.token = center.observe(nil, fileID: "App/Other.swift", line: 7) { _ in }
            tracked.token = center.observe(.modelDidClose, fileID: "App/Tracked.swift", line: 8) {
                _ in
            }
            observe(owner: sidebar) { [sidebar] in withExtendedLifetime((sidebar, tracked)) {} }
        }.map { $0.mermaid() }
        #expect(others.count == 4)
        #expect(
            others.contains {
                $0.contains("box2[\"token for any name<br/>App/Other.swift:7\"]:::yellow")
            })
        #expect(
            others.contains {
                $0.contains("box1[\"Sidebar\"]:::white") && $0.contains("App/Tracked.swift:8")
            })
    }

    @Test func `L3 a pending notification is drawn with its object and its target`() async {
        let queue = DispatchQueue(label: "never", attributes: .initiallyInactive)
        let (owner, model, keep) = (Sidebar(), Model(), Keep())
        let leaks = await MemorySearch.$isOn.withValue(false) {
            await self.leaks {
                observe(owner: owner, on: .dispatchQueue(queue)) {}
                LeakTracker.current?.keep(owner)
                keep.add(
                    center.observe(.modelDidClose, fileID: "App/Other.swift", line: 7) { _ in })
                center.post(name: .modelDidChange, object: track(model))
            }.map { $0.mermaid() }
        }
        #expect(leaks.count == 3)
        #expect(
            leaks.contains {
                $0.contains("box1([\"modelDidChange\"]):::green")
                    && $0.contains("box2[\"Model<br/>tracked at ")
                    && $0.contains(
                        "box0 -->|\"pending on dispatch queue never\"| box1\n    box1 -->|\"object\"| box2"
                    )
            })
        #expect(
            leaks.contains {
                $0.contains("box1[(\"dispatch queue never\")]:::violet")
                    && $0.contains("box0 -->|\"1 delivery\"| box1")
            })
        // The content of a local variable is unknown.
        #expect(
            leaks.contains {
                $0.contains("box0[\"1 strong reference<br/>not found\"]:::grey")
                    && $0.contains(
                        "box1[\"token for modelDidClose<br/>App/Other.swift:7\"]:::yellow")
            })
        keep.drop()
        queue.activate()
    }
}
