/// Boxes, some of them in frames, and arrows between them: what Graphviz, Mermaid and SVG are drawn from.
package struct Diagram: Sendable {
    package enum Shape: Sendable {
        case box, pill, cylinder
    }

    /// The fill of a box.
    package enum Tint: String, Sendable, CaseIterable {
        case red, yellow, green, violet, grey, white

        var color: String {
            switch self {
            case .red: "#ffd0c7"
            case .yellow: "#ffe9b3"
            case .green: "#e4f3e4"
            case .violet: "#f1e6f7"
            case .grey: "#dcdcdc"
            case .white: "#ffffff"
            }
        }
    }

    package struct Box: Sendable {
        /// The first one is what it is called; there are three at most.
        package let lines: [String]
        package let shape: Shape
        package let tint: Tint
        /// Its place from left to right.
        let column: Int

        package init(_ lines: [String], _ shape: Shape = .box, _ tint: Tint = .white, column: Int) {
            (self.lines, self.shape, self.tint, self.column) = (lines, shape, tint, column)
        }
    }

    /// From one box to another, by their numbers.
    package struct Arrow: Sendable {
        package let from: Int
        package let to: Int
        package let label: String
    }

    struct Frame {
        let title: String
        /// Boxes of the main column, by their numbers.
        let boxes: Range<Int>
    }

    package private(set) var boxes: [Box] = []
    package private(set) var arrows: [Arrow] = []
    private(set) var frames: [Frame] = []
    /// The column whose boxes stand one below the other; others stand beside those that they are joined with.
    let mainColumn: Int

    package init(mainColumn: Int = 0) {
        self.mainColumn = mainColumn
    }

    /// Adds a box, and returns its number.
    @discardableResult
    package mutating func add(_ box: Box) -> Int {
        boxes.append(box)
        return boxes.count - 1
    }

    package mutating func join(_ from: Int, _ to: Int, _ label: String = "") {
        arrows.append(Arrow(from: from, to: to, label: label))
    }

    /// Puts the boxes that were added last into a frame.
    mutating func frame(from first: Int, _ title: String) {
        frames.append(Frame(title: title, boxes: first..<boxes.count))
    }
}
