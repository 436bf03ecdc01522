import Foundation

/// The sentences of WhatItCosts.md that have figures of the rows.
enum Sentences {
    private struct Pattern {
        /// The begin of the sentence, by which its line is found.
        let begin: String
        /// For each figure the name of its row, whether it is a percentage, and the words behind it.
        let figures: [(row: String, isPercentage: Bool, words: String)]
    }

    private static let patterns = [
        Pattern(
            begin: "- A post to one observer takes ",
            figures: [
                (
                    "post by name, 1 observer", true,
                    "of the time of a post on Foundation's center on Linux."
                )
            ]),
        Pattern(
            begin: "- A post to a thousand observers takes ",
            figures: [
                (
                    "post, 1000 observers", false,
                    "times as long as a loop over a thousand boxes with a closure each."
                )
            ]),
        Pattern(
            begin: "- A burst to a dispatch queue takes ",
            figures: [
                (
                    "burst to a dispatch queue, per delivery, 1000", false,
                    "times as long as one `async` for each post."
                )
            ]),
        Pattern(
            begin: "- Enqueueing and flushing 250 notifications takes ",
            figures: [
                (
                    "PostingQueue: enqueue + flush, k = 250", true,
                    "of the time on Foundation's queue."
                )
            ]),
        Pattern(
            begin: "- A task with an owner takes ",
            figures: [
                (
                    "a task of an owner, until its return", false,
                    "times as long as a plain `Task` until its return."
                )
            ]),
        Pattern(
            begin: "- An element of an owner's loop takes ",
            figures: [
                (
                    "1000 elements of an AsyncStream to an owner, each, 1000", false,
                    "times as long as in a `for await`."
                )
            ]),
        Pattern(
            begin:
                "- A registration, with its token and a handler with 32 bytes of captures, takes ",
            figures: [
                ("bytes per registration, 100000", false, "of the bytes of Foundation's observer;"),
                ("bytes per registration, attached, 100000", false, "with an owner."),
            ]),
    ]

    /// The line with the figures of the rows; as it is, if it is none of the sentences or a row is
    /// missing.
    static func renewed(_ line: String, from rows: [Row]) -> String {
        guard let pattern = patterns.first(where: { line.hasPrefix($0.begin) }) else { return line }
        var words: [String] = []
        for figure in pattern.figures {
            guard let row = rows.first(where: { $0.name == figure.row }) else { return line }
            words.append(text(row.ratio, isPercentage: figure.isPercentage))
            words.append(figure.words)
        }
        return pattern.begin + words.joined(separator: " ")
    }

    private static func text(_ ratio: Double, isPercentage: Bool) -> String {
        guard isPercentage else { return String(format: "%.2f", ratio) }
        return String(format: "%.2g", ratio * 100) + " %"
    }
}
