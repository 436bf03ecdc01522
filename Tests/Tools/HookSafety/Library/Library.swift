/// A class unknown to the program that opens the library.
open class LibraryOwner<Value> {
    public var value: Value?
    public init(_ value: Value) { self.value = value }
    deinit { value = nil }
}

final class HiddenOwner: LibraryOwner<[String]> { var more = 1.0 }

@_cdecl("make_library_owner")
public func makeLibraryOwner() -> UnsafeMutableRawPointer {
    unsafe Unmanaged.passRetained(HiddenOwner(["value"])).toOpaque()
}
