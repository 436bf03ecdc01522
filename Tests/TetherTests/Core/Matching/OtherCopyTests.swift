#if os(Linux)

import Foundation
import TestLimits
import Testing
import Tether

/// A second copy of Tether, in a loaded dynamic library.
@Suite struct OtherCopyTests {
    /// Loads the dynamic product, and makes its default center.
    private static func useOtherCopy() {
        let program = Bundle.main.executableURL!.resolvingSymlinksInPath()
        let library = program.deletingLastPathComponent().appending(path: "libTetherDynamic.so")
        // The library uses its own symbols, as in a program without exported symbols.
        let deepBinding: CInt = 8
        let handle = unsafe dlopen(library.path, RTLD_NOW | deepBinding)
        // The accessor of `ObserverCenter.default`.
        let symbol = unsafe dlsym(handle, "$s6Tether14ObserverCenterC7defaultACvau")
        typealias Accessor = @convention(c) () -> UnsafePointer<UInt>
        // SAFETY: the accessor has no argument, and returns the address of a reference.
        let accessor = unsafe unsafeBitCast(symbol!, to: Accessor.self)
        let own = UInt(bitPattern: ObjectIdentifier(ObserverCenter.default))
        for _ in 0..<2 {
            precondition(unsafe accessor().pointee != own)
        }
    }

    @Test(.enabled(if: !isSanitized, "A sanitizer refuses a library that uses its own symbols."))
    func `M8 the second copy of Tether in a process says so once`() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            OtherCopyTests.useOtherCopy()
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(printed.ranges(of: "this process has two copies of Tether").count == 1)
    }

    @Test func `M8 a process with one copy of Tether says nothing`() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            _ = ObserverCenter.default
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(!printed.contains("two copies"))
    }
}

#endif
