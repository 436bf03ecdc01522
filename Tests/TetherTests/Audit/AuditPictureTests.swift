import Dispatch
import Foundation
import Testing
import Tether

@testable import TetherTesting

/// The audit as a graph, for Graphviz, for Mermaid and as a picture.
@Suite struct AuditPictureTests {
    private final class Sidebar: Sendable {}

    private let center = ObserverCenter()
    private let file = "TetherTests/AuditPictureTests.swift"

    private func lines(_ shape: Diagram.Shape, in diagram: Diagram) -> [[String]] {
        diagram.boxes.filter { $0.shape == shape }.map(\.lines)
    }

    @Test func `L1 a graph leads from a name over an observer in its owner's frame to its target`()
    {
        let owner = Sidebar()
        let line = #line + 1
        center.observe(.sample, owner: owner) { _, _ in }
        #expect(
            center.audit().dot() == """
                digraph {
                    rankdir=LR;
                    graph [fontname=Helvetica];
                    node [fontname=Helvetica, style=filled];
                    edge [fontname=Helvetica];
                    box0 [label="sample", shape=ellipse, fillcolor="#e4f3e4"];
                    box1 [label="posting thread", shape=cylinder, fillcolor="#f1e6f7"];
                    subgraph cluster0 {
                        label="Sidebar"; style="rounded,filled"; fillcolor="#eef3fb";
                        box2 [label="\(file):\(line)", shape=box, fillcolor="#ffffff"];
                    }
                    box0 -> box2;
                    box2 -> box1;
                }

                """)
        #expect(
            center.audit().mermaid() == """
                flowchart LR
                    classDef green fill:#e4f3e4,stroke:#555,color:#000
                    classDef violet fill:#f1e6f7,stroke:#555,color:#000
                    classDef white fill:#ffffff,stroke:#555,color:#000
                    box0(["sample"]):::green
                    box1[("posting thread")]:::violet
                    subgraph frame0 ["Sidebar"]
                        box2["\(file):\(line)"]:::white
                    end
                    box0 --> box2
                    box2 --> box1

                """)
        withExtendedLifetime(owner) {}
    }

    @Test func `L1 a picture costs the same for each observer, however many there are`() async {
        let growth = await growth(from: 100, to: 1600) { count in
            let owners = (0..<count).map { _ in Sidebar() }
            for (number, owner) in owners.enumerated() {
                center.observe(.init("name \(number)"), owner: owner, on: .main) { _, _ in }
            }
            #expect(center.audit().svg().contains("name 0 and \(count - 1) others"))
            withExtendedLifetime(owners) {}
        }
        #expect(growth < 6)
    }

    @Test func `L1 equal observers of an owner are one box, as are owners with equal observers`() {
        let owners = (0..<3).map { _ in Sidebar() }
        for owner in owners + [owners[0], owners[0]] {
            center.observe(.sample, owner: owner, fileID: "App/Window.swift", line: 7) { _, _ in }
        }
        let diagram = center.audit().diagram
        #expect(diagram.frames.map(\.title) == ["Sidebar", "Sidebar × 2"])
        #expect(
            lines(.box, in: diagram) == [["App/Window.swift:7 × 3"], ["App/Window.swift:7"]])
        withExtendedLifetime(owners) {}
    }

    @Test(arguments: [60, 61])
    func `L1 in a picture of more than 60 boxes each box has its name and target`(count: Int) {
        let tokens = (0..<count).map { number in
            center.observe(.sample, on: .main, fileID: "App/Window.swift", line: UInt(number)) {
                _ in
            }
        }
        let diagram = center.audit().diagram
        let isLarge = count > 60
        #expect(lines(.cylinder, in: diagram) == (isLarge ? [] : [["main"]]))
        #expect(
            lines(.box, in: diagram)[7] == ["App/Window.swift:7"]
                + (isLarge ? ["sample", "on main"] : []))
        #expect(diagram.arrows.isEmpty == isLarge)
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 in a large picture like owners with different names are one box`() {
        let owners = (0..<100).map { _ in Sidebar() }
        for (number, owner) in owners.enumerated() {
            center.observe(
                .init("row \(number)"), owner: owner, fileID: "App/Window.swift", line: 7
            ) { _, _ in }
        }
        let diagram = center.audit().diagram
        #expect(diagram.frames.map(\.title) == ["Sidebar × 100"])
        #expect(
            lines(.box, in: diagram) == [
                ["App/Window.swift:7 × 100", "row 0 and 99 others", "on posting thread"]
            ])
        withExtendedLifetime(owners) {}
    }

    @Test func `L1 a box of several names cuts each name, and not the words between`() {
        let sender = Sidebar()
        let tokens = (0..<70).map { number in
            let name = Notification.Name("com.example.application.didFinish.\(number)")
            return center.observe(
                name, from: sender, on: .main, fileID: "App/Window.swift", line: 7
            ) { _ in }
        }
        #expect(
            lines(.box, in: center.audit().diagram) == [
                [
                    "App/Window.swift:7 × 70",
                    "com.exampl…dFinish.0 from Sidebar and 69 others",
                    "on main",
                ]
            ])
        withExtendedLifetime((sender, tokens)) {}
    }

    @Test func `L1 a page shows what an audit has, and no name ends its script`() throws {
        let names = ["</script><script>alert(1)</script>", "<!--", "]]>&\"'\u{2028}", "AUDIT"]
        let tokens = names.map { center.observe(.init($0), on: .main) { _ in } }
        let page = center.audit().html()
        #expect(page.components(separatedBy: "</script").count == 3)
        #expect(page.components(separatedBy: "<!--").count == 1)
        let data = try #require(page.firstMatch(of: #/id="audit">(?<json>[^<]*)<\/script>/#))
        let document = try JSONSerialization.jsonObject(with: Data(data.json.utf8))
        let observers = try #require((document as? [String: Any])?["observers"] as? [[String: Any]])
        #expect(observers.map { $0["name"] as? String } == names)
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 an arrow ends at the box of an observer without an owner`() throws {
        let owner = Sidebar()
        center.observe(.sample, owner: owner) { _, _ in }
        let token = center.observe(.other) { _ in }
        let picture = center.audit().svg()
        let box = try #require(
            picture.matches(
                of: #/<rect x="(\d+)" y="\d+" width="\d+" height="\d+" rx="4" class="white"/#
            ).last)
        let left = try #require(Int(box.1))
        #expect(picture.contains(#/ H\d+" fill="none"/#))
        #expect(picture.contains(" H\(left - 6)\""))
        #expect(picture.contains("<path d=\"M\(left) "))
        withExtendedLifetime((owner, token)) {}
    }

    @Test func `L1 the middle of a long label is left out`() {
        let token = center.observe(.init("a\(String(repeating: "x", count: 20_000))b")) { _ in }
        let label = lines(.pill, in: center.audit().diagram)[0][0]
        func repeated(_ count: Int) -> String { String(repeating: "x", count: count) }
        #expect(label == "a\(repeated(19))…\(repeated(18))b")
        withExtendedLifetime(token) {}
    }

    @Test func `L1 operation queues without a name are numbered and not named by address`() {
        let tokens = [OperationQueue(), OperationQueue()].map { queue in
            center.observe(.sample, on: .operationQueue(queue)) { _ in }
        }
        #expect(
            lines(.cylinder, in: center.audit().diagram) == [
                ["operation queue NSOperationQueue"], ["operation queue NSOperationQueue 2"],
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 a column is as wide as its letters`() throws {
        let names = ["iiiiiiiiii", "aaaaaaaaaa", "AAAAAAAAAA", "MMMMMMMMMM", "通通通通通通通通通通"]
        let widths = try names.map { name in
            let token = center.observe(.init(name)) { _ in }
            defer { token.cancel() }
            let picture = center.audit().svg()
            let pill = try #require(picture.firstMatch(of: #/width="(\d+)" height="26" rx="13"/#))
            return try #require(Int(pill.1))
        }
        #expect(widths == [50, 80, 110, 130, 150].map { $0 + 24 })
    }

    @Test func `L1 text in a graph is escaped`() {
        let queue = DispatchQueue(label: "a <\"quoted\"> \\ & queue")
        let token = center.observe(.init("one\ntwo"), on: .dispatchQueue(queue)) { _ in }
        #expect(
            center.audit().dot().contains(
                #"[label="dispatch queue a <\"quoted\"> \\ & queue", shape"#))
        #expect(center.audit().dot().contains(#"[label="one\\ntwo", shape=ellipse, fill"#))
        #expect(center.audit().mermaid().contains("a &lt;&quot;quoted&quot;&gt; \\ &amp; queue"))
        #expect(center.audit().svg().contains("a &lt;&quot;quoted&quot;&gt; \\ &amp; queue"))
        token.cancel()
    }

    @Test func `L1 labels escape characters of Mermaid and directions of writing`() {
        let token = center.observe(.init("`a` #quot; \u{202E}b\u{0}\u{FFFF}")) { _ in }
        let audit = center.audit()
        #expect(audit.mermaid().contains(##"(["#96;a#96; #35;quot; \u{202E}b\0 "])"##))
        #expect(audit.svg().contains(#">`a` #quot; \u{202E}b\0 </text>"#))
        #expect(audit.dot().contains(#""`a` #quot; \\u{202E}b\\0 ""#))
        token.cancel()
    }

    @Test func `L1 a picture is a document whose boxes lie inside, and none over another`()
        throws
    {
        let owners = (0..<3).map { _ in Sidebar() }
        for (number, owner) in owners.enumerated() {
            for name in 0...number {
                center.observe(.init("name \(name)"), owner: owner, on: .main) { _, _ in }
            }
        }
        let token = center.observe(.sample, from: owners[0]) { _ in }
        let picture = center.audit().svg()
        let boxes = try picture.matches(
            of: #/<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" rx="(?:4|13)"/#
        )
        .map { box in
            try CGRect(
                x: #require(Int(box.1)), y: #require(Int(box.2)), width: #require(Int(box.3)),
                height: #require(Int(box.4)))
        }
        // Seven observers, of four subjects, with two targets.
        #expect(boxes.count == 7 + 4 + 2)
        let size = try #require(picture.firstMatch(of: #/<svg .* width="(\d+)" height="(\d+)"/#))
        let whole = try CGRect(
            x: 0, y: 0, width: #require(Int(size.1)), height: #require(Int(size.2)))
        for (index, box) in boxes.enumerated() {
            #expect(whole.contains(box))
            #expect(!boxes[(index + 1)...].contains { $0.intersects(box) })
        }
        withExtendedLifetime((owners, token)) {}
    }
}
