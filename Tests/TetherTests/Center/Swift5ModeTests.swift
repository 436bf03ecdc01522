#if os(Linux)

import Foundation
import Testing

/// Which methods a user's code in Swift 5 mode may connect, where a method's type need not name the actor it is of.
@Suite struct Swift5ModeTests {
    /// Methods with and without the main actor in their types, and one of another actor whose type hides it.
    private static let declarations = """
        import Foundation
        import Tether

        @globalActor actor Kitchen { static let shared = Kitchen() }

        @MainActor class Shown {
            func changed(_ notification: Notification) {}
            func closed() {}
        }

        @preconcurrency @MainActor class Hidden {
            func changed(_ notification: Notification) {}
            func closed() {}
        }

        @preconcurrency @Kitchen class HiddenElsewhere {
            func changed(_ notification: Notification) {}
            func closed() {}
        }

        class Unmarked {
            func changed(_ notification: Notification) {}
            func closed() {}
        }

        """

    /// Every form of a call that connects a method; `on: .main` and `.poster` are none of the main actor's.
    private static func calls(of type: String, elsewhere: Bool) -> [String] {
        ["changed", "closed"].flatMap { method in
            (elsewhere ? ["on: .main", "on: .poster"] : ["", "on: .mainActor"]).flatMap { target in
                let target = target == "" ? "" : ", " + target
                return [
                    "center.connect(nil, to: \(type).\(method), of: object\(target))",
                    "center.connect(nil, from: center, to: \(type).\(method), of: object, owner: center\(target))",
                    "small.connect(nil, to: \(type).\(method), of: object\(target))",
                    "property.connect(nil, to: \(type).\(method), of: object\(target))",
                ]
            } + (elsewhere ? [] : ["center.addObserver(object, action: \(type).\(method), name: nil, object: nil)"])
        }
    }

    /// What the compiler says of each of some statements about an object of a type, in functions with an attribute.
    private func diagnostics(
        of statements: [String], type: String, in function: String, mode: Int, options: [String]
    ) throws -> [String] {
        let functions = statements.enumerated().map { index, statement in
            """
            #sourceLocation(file: "Statements.swift", line: \(1000 + index))
            \(function) use\(index)(_ center: ObserverCenter, _ small: some NotifyingCenter, \
            _ property: NotificationObserver, _ object: \(type)) { \(statement) }

            """
        }
        let text = try Compiler(mode: mode, options: options).diagnostics(
            of: Swift5ModeTests.declarations + functions.joined() + "#sourceLocation()\n")
        #expect(!text.contains("Snippet.swift:"), "\(text)")
        return statements.indices.map { index in
            text.split(separator: "\n").filter { $0.contains("Statements.swift:\(1000 + index):") }
                .joined(separator: "\n")
        }
    }

    private func expectErrors(
        elsewhere: Bool, type: String, in function: String = "func", mode: Int = 5, options: [String]
    ) throws {
        let statements = Swift5ModeTests.calls(of: type, elsewhere: elsewhere)
        let texts = try diagnostics(of: statements, type: type, in: function, mode: mode, options: options)
        for (statement, text) in zip(statements, texts) {
            #expect(text.contains("error:") && text.contains("CallItInAClosure"), "\(statement)\n\(text)")
        }
    }

    /// Expects that the calls compile without a word on the main actor, and no others.
    private func expectMainActor(
        type: String, in function: String = "func", mode: Int = 5, options: [String]
    ) throws {
        let statements = Swift5ModeTests.calls(of: type, elsewhere: false)
        let texts = try diagnostics(of: statements, type: type, in: function, mode: mode, options: options)
        for (statement, text) in zip(statements, texts) { #expect(text == "", "\(statement)") }
        try expectErrors(elsewhere: true, type: type, in: function, mode: mode, options: options)
    }

    private static let inferring = ["-enable-upcoming-feature", "InferSendableFromCaptures"]
    private static let isolating = ["-default-isolation", "MainActor"]

    @Test(arguments: ["Hidden", "HiddenElsewhere", "Unmarked"], [[], inferring, isolating, inferring + isolating])
    func `P1 in Swift 5 mode a method whose type names no actor does not compile, because it may be of one`(
        type: String, options: [String]
    ) throws {
        for elsewhere in [false, true] { try expectErrors(elsewhere: elsewhere, type: type, options: options) }
    }

    @Test(arguments: ["nonisolated func", "@MainActor func", "@Kitchen func"], [inferring, inferring + isolating])
    func `P1 in Swift 5 mode a method whose type names another actor in an isolated function does not compile`(
        function: String, options: [String]
    ) throws {
        for elsewhere in [false, true] {
            try expectErrors(elsewhere: elsewhere, type: "HiddenElsewhere", in: function, options: options)
        }
    }

    @Test(arguments: [inferring, inferring + isolating])
    func `P1 in Swift 5 mode a method whose type names the main actor connects to it alone`(options: [String]) throws {
        try expectMainActor(type: "Shown", options: options)
        // In a function with an isolation of its own, the compiler hides nothing.
        try expectMainActor(type: "Hidden", in: "nonisolated func", options: options)
    }

    @Test func `P1 in Swift 5 mode without inferred Sendable no method connects`() throws {
        for elsewhere in [false, true] { try expectErrors(elsewhere: elsewhere, type: "Shown", options: []) }
    }

    @Test(arguments: [("Hidden", []), ("Unmarked", isolating)])
    func `P1 in Swift 6 mode the types of the same methods name the main actor`(
        type: String, options: [String]
    ) throws {
        try expectMainActor(type: type, mode: 6, options: options)
    }
}

#endif
