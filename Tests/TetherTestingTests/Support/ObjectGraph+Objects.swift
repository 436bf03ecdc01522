@testable import TetherTesting

extension ObjectGraph {
    /// The paths of one search, for objects that no other is made for.
    func paths(from roots: [HeapObject.Reference], to objects: [HeapObject]) -> [HeapObject:
        ReferencePath]
    {
        paths(from: roots, to: targets(objects))
    }

    func paths(from object: HeapObject, to objects: [HeapObject]) -> [HeapObject: ReferencePath] {
        paths(from: object, to: targets(objects))
    }
}
