// Two libraries are made from this, of one size and with the `deinit` in another place.

#if FIRST
@_cdecl("unloadable_padding")
public func padding(_ value: Int) -> Int { (value &* 31 &+ 7) ^ (value &>> 3) }
#endif

final class Passing {
    let report: @convention(c) (UnsafePointer<CChar>) -> Void

    init(_ report: @escaping @convention(c) (UnsafePointer<CChar>) -> Void) {
        self.report = report
    }

    deinit {
        #if FIRST
        unsafe report("deinit of the first")
        #else
        unsafe report("deinit of the other")
        #endif
    }
}

@_cdecl("unloadable_make")
public func make(_ report: @escaping @convention(c) (UnsafePointer<CChar>) -> Void) -> UnsafeMutableRawPointer {
    unsafe Unmanaged.passRetained(Passing(report)).toOpaque()
}

/// Hands a name that is a literal of this library, whose characters lie in it, to what posts or observes it.
@_cdecl("unloadable_name")
public func name(_ use: @convention(c) (UnsafeRawPointer) -> Void) {
    unsafe withUnsafePointer(to: "Unloadable.aNameOfThisLibrary") { unsafe use(UnsafeRawPointer($0)) }
}
