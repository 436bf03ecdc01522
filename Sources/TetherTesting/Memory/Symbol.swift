internal import CProcessMemory
internal import Foundation
internal import Tether

/// The symbol of a place in a loaded image: a function, a variable or data of the runtime.
///
/// The symbol tables are those of the images' files (ElfImages.c), the lines those of the debug
/// information (DwarfLines.c). Private names are known in files that are not stripped.
struct Symbol: Sendable {
    /// The name in the image, mangled; empty if the image has no symbol there.
    let mangled: String
    /// The name in the words of the demangler.
    let demangled: String
    /// The bytes from the beginning of the symbol to the place.
    let offset: Int
    /// The path of the image.
    let image: String
    private let place: HiddenAddress

    // MARK: Finding

    private struct Known: Sendable {
        var symbols: [HiddenAddress: Symbol?] = [:]
        var lines: [String: String?] = [:]
    }

    private static let known = Locked(Known())

    /// The symbol of an address; `nil` if the address is in no image.
    static func at(_ place: HiddenAddress) -> Symbol? {
        known.withLock { known in
            if let symbol = known.symbols[place] { return symbol }
            let symbol = find(place)
            known.symbols[place] = .some(symbol)
            return symbol
        }
    }

    /// The symbol of the function or the data at an address found in memory.
    static func at(word: UInt?) -> Symbol? {
        guard let word, word >= 4096 else { return nil }
        return at(HiddenAddress(word))
    }

    private static func find(_ place: HiddenAddress) -> Symbol? {
        var name = [CChar](repeating: 0, count: 8192)
        var image = [CChar](repeating: 0, count: 1024)
        // SAFETY: both buffers have the given capacities; `known` is locked.
        let found = unsafe tether_find_symbol(
            place.complement, &name, name.count, &image, image.count)
        guard found.is_in_image != 0 else { return nil }
        let mangled = name.text
        return Symbol(
            mangled: mangled, demangled: demangle(mangled), offset: Int(found.offset),
            image: image.text, place: place)
    }

    private static func demangle(_ name: String) -> String {
        guard name.hasPrefix("$s"),
            let text = unsafe demangledText(name, UInt(name.utf8.count), nil, nil, 0)
        else { return name }
        // SAFETY: the runtime returns a C string that the caller frees.
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    // MARK: Where it belongs

    var isOfSwift: Bool { mangled.hasPrefix("$s") }

    /// Whether the symbol is of the standard library, even if the compiler put it into the program.
    private var isOfStandardLibrary: Bool {
        mangled.hasPrefix("$ss") || mangled.hasPrefix("$sS")
    }

    /// The name of the image's file.
    private var file: String { image.split(separator: "/").last.map(String.init) ?? image }

    /// Whether the symbol belongs to the toolchain or the system, and not to the program.
    var isOfLibrary: Bool {
        isOfStandardLibrary || Symbol.libraries.contains { file.hasPrefix($0) }
    }

    private static let libraries = [
        "libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime", "libc.",
        "libc-", "ld-", "libpthread", "libm.", "libstdc++", "libgcc", "libTesting", "libXCTest",
        "lib_Testing", "lib_Internal", "lib_TestDiscovery", "libcurl", "libxml2", "libicu",
    ]

    /// Whether the symbol belongs to a library whose data are pools and caches, which hold nothing.
    var isOfRuntime: Bool {
        ["libswiftCore", "libswift_Concurrency", "libc.", "ld-", "libstdc++", "libm.", "libgcc"]
            .contains { file.hasPrefix($0) }
    }

    var isOfTether: Bool {
        mangled.hasPrefix("tether_")
            || ["6Tether", "13TetherTesting", "18TetherVerification"].contains { module in
                mangled.hasPrefix("$s\(module)") || mangled.contains("\(module)E")
            }
    }

    /// The module of the source, or the image's file without `lib` and its ending.
    var module: String {
        if isOfSwift, let module = SourceName(demangled).module { return module }
        let path = image == "/proc/self/exe" ? CommandLine.arguments[0] : image
        var name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasPrefix("lib") { name.removeFirst(3) }
        return String(name.prefix { $0 != "." })
    }

    // MARK: In the words of the source

    private var isVariable: Bool {
        isOfSwift && (mangled.hasSuffix("vp") || mangled.hasSuffix("vpZ"))
    }

    /// A variable, such as `cache` or `Cache.shared`; `nil` if the symbol is something else.
    var variable: String? { isVariable ? SourceName(demangled).variable : nil }

    /// The constant whose object an optimized build makes a part of the image, behind one word. The
    /// object has the symbol of the constant's initialization, with an ending.
    var constantOfObject: Symbol? {
        let ending = "_WZTv_"
        guard mangled.hasSuffix(ending) else { return nil }
        // A variable's symbol has its type, which is not known here.
        let name = String(mangled.dropLast(ending.count)) + "Sivp"
        return Symbol(
            mangled: name, demangled: Symbol.demangle(name), offset: offset, image: image,
            place: place)
    }

    /// The type of a variable.
    private var type: Substring? { isVariable ? SourceName(demangled).type : nil }

    /// Whether a variable never retains: a number, a weak or an unowned reference.
    var isPlainVariable: Bool { type.map(SourceName.isPlain) == true }

    /// Whether a variable is a function: its second word is the reference to the context.
    var isFunctionVariable: Bool { type?.contains(" -> ") == true && offset == 8 }

    /// Whether a variable is a pointer, which retains no object of Swift.
    var isPointer: Bool {
        type.map { $0.contains("Swift.Unsafe") || $0.hasSuffix("Swift.OpaquePointer") } == true
    }

    /// Code, such as "`load()`" or "a closure in `Exporter.start()`"; `nil` for code of the
    /// compiler's own.
    var code: String? { isOfSwift ? SourceName(demangled).code : nil }

    /// Code with its place, such as "a closure in `load()` at Loader.swift:12".
    var codeAndLine: String? {
        guard let code else { return nil }
        return line.map { "\(code) at \($0)" } ?? code
    }

    /// The file and the line of a function of the program, where debug information has them.
    private var line: String? {
        guard isOfSwift, !isOfLibrary else { return nil }
        // The forwarder of a closure, and the parts of an async function, have endings of their own.
        let function = mangled.replacing(#/(TA)?(T[QY]\d*_)?$/#, with: "")
        let place = place
        return Symbol.known.withLock { known in
            if let line = known.lines[function] { return line }
            let line = Symbol.findLine(of: function, place)
            known.lines[function] = .some(line)
            return line
        }
    }

    private static func findLine(of function: String, _ place: HiddenAddress) -> String? {
        var file = [CChar](repeating: 0, count: 1024)
        // SAFETY: the buffer has the given capacity; `known` is locked.
        let line = unsafe tether_find_line(place.complement, function, &file, file.count)
        guard line > 0 else { return nil }
        let name = file.text.split(separator: "/").last
        return name.map { "\($0):\(line)" }
    }
}

extension [CChar] {
    /// The text of a C string, which ends before a zero.
    var text: String {
        String(decoding: prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

@_silgen_name("swift_demangle")
private func demangledText(
    _ name: UnsafePointer<CChar>, _ length: UInt, _ output: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
