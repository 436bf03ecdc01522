internal import Foundation
internal import Tether

/// A leak as a diagram: holders from left to right, in rows of three, ending with the object left
/// behind.
///
/// The first box is red: the repair belongs there. The object left behind is yellow.
struct LeakPicture {
    private static let rowLength = 3

    var diagram = Diagram(rowLength: rowLength)

    /// Begins with the outermost holder.
    init(_ lines: [String], _ tint: Diagram.Tint = .red) {
        diagram.add(Diagram.Box(lines, .box, tint, column: 0))
    }

    /// Begins with a registration's handler.
    init(handlerOf registration: WatchedRegistration) {
        self.init([registration.pictureTitle, "\(registration.site)"])
    }

    /// Adds an object, held by the last box in the property named by the label.
    mutating func hold(
        _ lines: [String], _ label: String, _ shape: Diagram.Shape = .box,
        _ tint: Diagram.Tint = .yellow
    ) {
        let number = diagram.add(
            Diagram.Box(lines, shape, tint, column: diagram.boxes.count % LeakPicture.rowLength))
        diagram.join(number - 1, number, label)
    }

    /// This picture, followed by a path to the object left behind; from `.itself` the path leads
    /// back to the first box.
    func following(_ path: ReferencePath, from root: ReferencePath.Root, to lines: [String])
        -> LeakPicture
    {
        var picture = self
        if root.isClosure {
            picture.diagram.repair = "Fix here: capture \(path.firstHolder ?? "it") weakly"
        }
        for (label, object) in path.boxes(from: root) {
            if let object {
                picture.hold([object.name], label, .box, .white)
            } else if root.isItself {
                picture.close(label)
            } else {
                picture.hold(lines, label)
            }
        }
        return picture
    }

    /// Adds an arrow from the last box to the first.
    mutating func close(_ label: String) { diagram.join(diagram.boxes.count - 1, 0, label) }
}

extension LeakTracker.Tracked {
    /// The lines of the object in a picture.
    var lines: [String] { [label, "\(isOwner ? "owner given" : "tracked") at \(site)"] }
}

extension WatchedRegistration {
    var subject: String { describeName(name) }

    /// The registered code in a picture.
    fileprivate var pictureTitle: String {
        switch work {
        case nil: "handler of \(subject)"
        case .task: "task"
        case .loop: "loop"
        case .closure: "closure of whenEnded"
        }
    }

    /// The lines of the token in a picture.
    var tokenLines: [String] { ["token for \(subject)", "\(site)"] }

    /// A handler that holds an object. If the object is the owner, the picture shows that the owner
    /// holds the handler.
    func picture(_ path: ReferencePath, to object: HeapObject, _ lines: [String]) -> Diagram {
        var picture = LeakPicture(handlerOf: self).following(path, from: .closure, to: lines)
        if owner == object.address {
            if path.firstHolder == nil {
                picture.diagram.repair = "Fix here: use the handler's owner argument"
            }
            picture.close("keeps, while it lives")
        }
        return picture.diagram
    }
}
