/// The memory orders of the modelled functions. Each is part of a protocol's listed line, so a
/// changed order fails the check until its model has changed.
struct ModelledOrders {
    /// The words before a memory order, in Swift and in C.
    private static let marks = ["ordering:", "memory_order_", "__ATOMIC_"]

    private let text: String
    /// The listed lines with a memory order.
    private let orders: [String]
    /// The listed beginnings of functions: `func name(`.
    private let functions: [String]

    /// `lines`: the lines of all protocols for the file.
    init(of text: String, lines: [String]) {
        self.text = text
        functions = lines.filter { $0.hasSuffix("(") }
        orders = lines.filter { line in ModelledOrders.marks.contains { line.contains($0) } }
    }

    /// The ends of the steps whose orders no protocol lists.
    var unlisted: [String] {
        var found: [String] = []
        for function in functions {
            for start in text.ranges(of: function).map(\.lowerBound) {
                var body = ModelledOrders.withoutSpaces(body(from: start))
                for order in orders {
                    body.replace(ModelledOrders.withoutSpaces(order), with: "")
                }
                for mark in ModelledOrders.marks {
                    for part in body.ranges(of: mark) {
                        let end = body[part.upperBound...].firstIndex(of: ")") ?? body.endIndex
                        found.append("\(function) … \(body[..<end].suffix(80))")
                    }
                }
            }
        }
        return found
    }

    /// The function whose first line has the index, to the brace in the line's first column.
    private func body(from start: String.Index) -> Substring {
        let line = text[..<start].lastIndex(of: "\n").map(text.index(after:)) ?? text.startIndex
        let first = text[line...].prefix { $0 != "\n" }
        if first.hasSuffix("}") { return first }
        let end = text[start...].firstRange(of: "\n" + first.prefix { $0 == " " } + "}")
        return text[start..<(end?.upperBound ?? text.endIndex)]
    }

    static func withoutSpaces(_ text: some StringProtocol) -> String {
        String(text.filter { !$0.isWhitespace })
    }
}
