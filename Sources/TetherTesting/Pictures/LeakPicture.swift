internal import Foundation
internal import Tether

/// A leak as a diagram: holders from left to right, down to the object that is left.
///
/// The first box is red: the leak is mended there. The object that is left is yellow.
struct LeakPicture {
    private(set) var diagram = Diagram()

    /// Begins with the object that holds the others.
    init(_ lines: [String], _ tint: Diagram.Tint = .red) {
        diagram.add(Diagram.Box(lines, .box, tint, column: 0))
    }

    /// Begins with a registration's handler.
    init(handlerOf registration: WatchedRegistration) {
        self.init(["handler of \(registration.subject)", "\(registration.site)"])
    }

    /// Adds an object, which the last one holds in the property that the label names.
    mutating func hold(
        _ lines: [String], _ label: String, _ shape: Diagram.Shape = .box, _ tint: Diagram.Tint = .yellow
    ) {
        let number = diagram.add(Diagram.Box(lines, shape, tint, column: diagram.boxes.count))
        diagram.join(number - 1, number, label)
    }

    /// This picture, followed by a path to the object that is left, or back to the first box if that is the object.
    func following(_ path: ReferencePath, from root: ReferencePath.Root, to lines: [String]) -> LeakPicture {
        var picture = self
        for leg in path.legs(from: root) {
            if let type = leg.type {
                picture.hold([type.name], leg.label, .box, .white)
            } else if root == .itself {
                picture.close(leg.label)
            } else {
                picture.hold(lines, leg.label)
            }
        }
        return picture
    }

    /// Says how the last one holds the first.
    mutating func close(_ label: String) { diagram.join(diagram.boxes.count - 1, 0, label) }
}

extension LeakTracker.Tracked {
    /// Its lines in a picture.
    var lines: [String] { [label, "\(isOwner ? "observed for" : "tracked") at \(site)"] }
}

extension WatchedRegistration {
    var subject: String { describeName(name) }

    /// The lines of its token in a picture.
    var tokenLines: [String] { ["token for \(subject)", "\(site)"] }

    /// A handler that holds an object: that holds the handler, too, if it is the owner.
    func picture(_ path: ReferencePath, to object: HeapObject, _ lines: [String]) -> Diagram {
        var picture = LeakPicture(handlerOf: self).following(path, from: .closure, to: lines)
        if owner == object.address { picture.close("keeps, while it lives") }
        return picture.diagram
    }
}
