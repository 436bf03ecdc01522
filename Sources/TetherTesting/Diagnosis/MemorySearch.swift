internal import Tether

/// The explanations of one diagnosis that come from all memory of the process. The memory is read
/// once, for the first leak that nothing in the scope explains.
final class MemorySearch {
    private let begin = ContinuousClock.now
    private let limit: Duration
    private lazy var search = HolderSearch(limit: limit - (ContinuousClock.now - begin))

    /// Whether the memory is searched in this task: not in tests of the searches within a scope.
    @TaskLocal static var isOn = true

    init(limit: Duration) {
        self.limit = limit
    }

    /// The cause of a leak in words, the remedy, and a picture.
    struct Explanation {
        let words: String
        let remedy: String
        let picture: Diagram
        /// Whether a task is the holder.
        var isTask = false
    }

    /// Whether the limit ended the search.
    var isOver: Bool { ContinuousClock.now - begin >= limit }

    /// The holders of an object, called `it`, that the picture shows in some lines; `nil` if memory
    /// cannot be searched, or not within the limit.
    func explanation(of object: LeftObject, calling it: String = "it", in lines: [String])
        -> Explanation?
    {
        guard MemorySearch.isOn, !isOver, let search else { return nil }
        let result = search.holders(of: HiddenAddress(object.heap.address), count: object.count)
        let has = "\(it) has \(Diagnosis.references(object.count))"
        guard let first = result.paths.first ?? result.rootless.first else {
            if result.isCut { return nil }
            return Explanation(
                words: "\(has). Nothing in memory holds it: \(Diagnosis.unbalanced).", remedy: "",
                picture: Diagnosis.unexplained(object.count, of: lines))
        }
        guard first.isProved || result.paths.isEmpty else {
            return Explanation(
                words: "\(has). Nothing else in memory holds it, but \(first.sentence).",
                remedy: "\(first.remedy)\(first.remedy.isEmpty ? "" : " ")Otherwise look for "
                    + "\(Diagnosis.unbalanced).",
                picture: first.picture(to: lines), isTask: first.isOfTask)
        }
        var sentences = [first.sentence]
        for path in result.paths where path.isProved && sentences.count < 3 {
            if !sentences.contains(path.sentence) { sentences.append(path.sentence) }
        }
        let words = sentences.joined(separator: ", and ")
        let isMissing = result.known < object.count
        let count =
            isMissing ? " (\(result.known) of \(Diagnosis.references(object.count)) found)" : ""
        return Explanation(
            words: "\(it == "it" ? "" : "\(has): ")\(words)\(count).", remedy: first.remedy,
            picture: first.picture(to: lines), isTask: first.isOfTask)
    }
}
