internal import Foundation

/// A name of the demangler, said in the words of the source.
///
/// | The demangler | The source |
/// |---|---|
/// | `static App.Cache.shared : App.Cache` | `Cache.shared` |
/// | `closure #1 @Sendable () -> () in App.Model.poll(every: Swift.Int) -> ()` | a closure in `Model.poll(every:)` |
/// | `(1) await resume partial function for App.load() async -> ()` | `load()` |
///
/// The demangler's text has no grammar of its own: it is a declaration with full names, in which
/// brackets are balanced.
struct SourceName {
    /// The name without the marks of private declarations: `(cache in _B2C3)` is `cache`.
    private let text: String

    init(_ demangled: String) {
        text = SourceName.withoutMarks(demangled)
    }

    private static func withoutMarks(_ demangled: String) -> String {
        var text = demangled
        guard text.contains(" in _") else { return text }
        while let mark = text.firstRange(of: #/ in _[0-9A-F]{8,}\)/#),
            let open = text[..<mark.lowerBound].lastIndex(of: "(")
        {
            text.removeSubrange(mark)
            text.remove(at: open)
        }
        return text
    }

    // MARK: Variables

    private var declaration: Substring { SourceName.without(["static ", "class "], text[...]) }

    var module: String? { declaration.split(separator: ".").first.map(String.init) }

    /// A variable; one of a function is "`cache` in `load()`", without the outer accents.
    var variable: String? {
        let text = declaration
        guard let colon = SourceName.find(" : ", in: text) else { return nil }
        let name = text[..<colon]
        guard SourceName.isLocal(name) else { return SourceName.withoutModule(name) }
        let first = name.prefix { $0 != " " }
        let function = SourceName.find(" in ", in: text[colon...]).flatMap { inside in
            SourceName.function(text[inside...].dropFirst(4))
        }
        return function.map { "\(first)` in `\($0)" } ?? String(first)
    }

    var type: Substring? {
        guard let colon = SourceName.find(" : ", in: text[...]) else { return nil }
        let type = text[colon...].dropFirst(3)
        guard SourceName.isLocal(text[..<colon]),
            let inside = SourceName.find(" in ", in: type)
        else { return type }
        return type[..<inside]
    }

    /// Whether a name is of a function's own variable, such as "cache #1".
    private static func isLocal(_ name: Substring) -> Bool { name.contains(" #") }

    /// Whether a variable of a type retains nothing.
    static func isPlain(_ type: Substring) -> Bool {
        var type = type
        if type.hasPrefix("weak ") || type.hasPrefix("unowned") { return true }
        while type.hasPrefix("Swift.Optional<"), type.hasSuffix(">") {
            type = type.dropFirst("Swift.Optional<".count).dropLast()
        }
        let numbers = ["Int", "UInt", "Bool", "Double", "Float", "ObjectIdentifier", "Unmanaged<"]
        return numbers.contains { type.hasPrefix("Swift.\($0)") }
    }

    // MARK: Code

    /// Names of code that the compiler makes out of a function: the function's own name follows.
    private static let forwarders = [
        "partial apply forwarder for ", "partial apply for ", "implicit closure #1 in ",
        "async function pointer to ", "closure body of ", "merged ",
    ]
    private static let specializations = [
        "generic specialization <", "function signature specialization <",
        "generic not re-abstracted specialization <", "generic partial specialization <",
    ]
    private static let resumptions = [
        " suspend resume partial function for ", " await resume partial function for ",
    ]
    private static let ownCode = ["reabstraction thunk", "outlined", "async_Main", "thunk for "]

    /// The function or closure; `nil` for code of the compiler's own.
    var code: String? {
        guard let text = SourceName.withoutForwarders(text[...]),
            !SourceName.ownCode.contains(where: text.contains)
        else { return nil }
        // "closure #1 (A) -> B in local #1 () -> () in Module.f() -> C"
        var parts: [Substring] = []
        var rest = text
        while let inside = SourceName.find(" in ", in: rest) {
            parts.append(rest[..<inside])
            rest = rest[inside...].dropFirst(4)
        }
        guard let first = parts.first else {
            return SourceName.function(rest).map { "`\($0)`" }
        }
        let isDeclaration = rest.contains("(") || rest.contains(" : ")
        let function = isDeclaration ? SourceName.function(rest) : nil
        let place = function.map { "`\($0)`" } ?? "the top level of \(rest)"
        // A function of a macro's own has a mangled name.
        let local = parts.first { !$0.contains("closure #") && !$0.contains("$s") }.map { part in
            part.prefix { $0 != "(" && $0 != " " }
        }
        if let local, !first.contains("closure #") { return "`\(local)` in \(place)" }
        return "a closure in \(local.map { "`\($0)` in " } ?? "")\(place)"
    }

    private static func withoutForwarders(_ name: Substring) -> Substring? {
        var text = name
        while true {
            let length = text.count
            text = without(forwarders, text)
            if specializations.contains(where: text.hasPrefix) {
                guard let of = text.range(of: "> of ") else { return nil }
                text = text[of.upperBound...]
            }
            if text.first == "(", let close = text.firstIndex(of: ")") {
                let behind = text[text.index(after: close)...]
                let withoutResumption = without(resumptions, behind)
                if withoutResumption.count < behind.count { text = withoutResumption }
            }
            if text.count == length { return text }
        }
    }

    /// "Module.Type.f(a: Int) async throws -> C" is "Type.f(a:)". Of a function with a mangled name,
    /// which a macro makes, the type is left.
    private static func function(_ name: Substring) -> String? {
        guard let plain = functionWithAccents(name)?.replacing("`", with: "") else { return nil }
        guard let mangled = plain.firstRange(of: ".$s") else {
            return plain.hasPrefix("$s") ? nil : plain
        }
        return String(plain[..<mangled.lowerBound])
    }

    private static func functionWithAccents(_ name: Substring) -> String? {
        var text = without(["static ", "class ", "final ", "private ", "@objc "], name)
        for accessor in [".getter : ", ".setter : ", ".modify : ", ".read : "] {
            if let range = text.range(of: accessor) {
                return withoutModule(text[..<range.lowerBound])
            }
        }
        if let extended = text.range(of: "):"), text.hasPrefix("(extension in ") {
            text = text[extended.upperBound...]
        }
        if let colon = find(" : ", in: text) { return withoutModule(text[..<colon]) }
        guard let open = find("(", in: text) else { return nil }
        return "\(withoutModule(text[..<open]))(\(labels(text[open...])))"
    }

    /// "(a: Int, Int) -> C" is "a:_:".
    private static func labels(_ parameters: Substring) -> String {
        guard let close = end(ofBracketIn: parameters) else { return "" }
        var rest = parameters[..<close].dropFirst()
        var labels = ""
        while !rest.isEmpty {
            let comma = find(", ", in: rest)
            let parameter = comma.map { rest[..<$0] } ?? rest
            let label = find(": ", in: parameter).map { parameter[..<$0] } ?? "_"
            labels += "\(label):"
            rest = comma.map { rest[$0...].dropFirst(2) } ?? ""
        }
        return labels
    }

    // MARK: Text

    private static func without(_ beginnings: [String], _ text: Substring) -> Substring {
        var text = text
        while let beginning = beginnings.first(where: text.hasPrefix) {
            text = text.dropFirst(beginning.count)
        }
        return text
    }

    /// "(extension in A):B.Array<B.Int>.c" is "Array.c".
    private static func withoutModule(_ name: Substring) -> String {
        var text = name
        if let end = text.range(of: "):"), text.hasPrefix("(extension in ") {
            text = text[end.upperBound...]
        }
        var depth = 0
        var plain = ""
        for character in text {
            if character == "<" { depth += 1 }
            if depth == 0 { plain.append(character) }
            if character == ">" { depth -= 1 }
        }
        guard let dot = plain.firstIndex(of: ".") else { return plain }
        return String(plain[plain.index(after: dot)...])
    }

    /// The first place of a separator outside of brackets.
    private static func find(_ separator: String, in text: Substring) -> String.Index? {
        var depth = 0
        var previous: Character = " "
        // A name between accents may have any letters.
        var isInName = false
        for index in text.indices {
            let character = text[index]
            if character == "`" { isInName.toggle() }
            if isInName { continue }
            if depth == 0, text[index...].hasPrefix(separator) { return index }
            if "([<{".contains(character) { depth += 1 }
            // Not the end of "->".
            if ")]}".contains(character) || character == ">" && previous != "-" { depth -= 1 }
            previous = character
        }
        return nil
    }

    /// The place of the bracket that closes the first character of a text.
    private static func end(ofBracketIn text: Substring) -> String.Index? {
        var depth = 0
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }
}
