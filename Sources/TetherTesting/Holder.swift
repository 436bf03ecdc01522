internal import Foundation
internal import Tether

/// A holder of an object, with the way from the holder to the object.
///
/// See `holders(of:limit:)`.
public struct Holder: Sendable, CustomStringConvertible {
    /// The holder and the way to the object, in one line. Begins with "perhaps" if a step is not
    /// proved, as a word in memory of an unknown kind is.
    public let description: String
    private let picture: Diagram

    init(_ description: String, _ picture: Diagram) {
        self.description = printable(description)
        self.picture = picture
    }

    /// The way as a graph for Graphviz; see ``LeakTracker/Leak/dot()``.
    public func dot() -> String { picture.graphviz }

    /// The way as a flow chart for Mermaid; see ``LeakTracker/Leak/mermaid()``.
    public func mermaid() -> String { picture.mermaid }

    /// The way as an SVG picture; see ``LeakTracker/Leak/svg()``.
    public func svg() -> String { picture.svg }
}

/// Finds what holds an object, anywhere in the process: on Linux with glibc.
///
/// ```swift
/// for holder in holders(of: sidebar) { print(holder) }
/// // the global `registry` of App holds it: `registry["main"].sidebar` refers to it. …
/// ```
///
/// For a debugger, a debug menu or the handler of a signal source. The search reads all memory of
/// the process, and stops no thread. A reference that changes meanwhile may not be found. See
/// <doc:WhatKeepsMyObjectAlive>.
///
/// *Thread safety*: any thread. *Complexity*: O(bytes of memory), some 60 milliseconds for 40 MB.
/// - Parameters:
///   - object: The object. The caller holds it, too, perhaps in a local variable.
///   - limit: The longest search.
/// - Returns: The holders, the surest first. If the object has more strong references than were
///   found, the last element says so. Empty on other systems, with another allocator, and if the
///   memory was not read within the limit.
public func holders(of object: AnyObject, limit: Duration = .seconds(5)) -> [Holder] {
    let count = Int(_getRetainCount(object))
    let address = HiddenAddress(HeapObject(object).address)
    guard let search = HolderSearch(limit: limit) else { return [] }
    let name = "\(type(of: object))"
    let result = search.holders(of: address, count: count)
    var holders: [Holder] = []
    for path in result.paths + result.rootless {
        let words = "\(path.sentence). \(path.remedy)".trimmingCharacters(in: .whitespaces)
        let holder = Holder(words, path.picture(to: [name]))
        // Several words of one function say the same.
        if !holders.contains(where: { $0.description == holder.description }) {
            holders.append(holder)
        }
    }
    if result.known < count, !result.isCut {
        let missing = count - result.known
        var picture = LeakPicture([Diagnosis.references(missing), "not found"], .grey)
        picture.hold([name], "")
        holders.append(
            Holder(
                "\(result.known) of \(Diagnosis.references(count)) found. The rest: the caller's own "
                    + "variable, or \(Diagnosis.unbalanced).",
                picture.diagram))
    }
    return holders
}
