@testable import TetherTesting

extension ObjectGraph {
    /// The paths of a search for these objects alone.
    func paths(from roots: [HeapObject.Reference], to objects: [HeapObject]) -> [HeapObject:
        ReferencePath]
    {
        paths(from: roots, to: targets(objects))
    }

    func paths(from object: HeapObject, to objects: [HeapObject]) -> [HeapObject: ReferencePath] {
        paths(from: object, to: targets(objects))
    }
}
