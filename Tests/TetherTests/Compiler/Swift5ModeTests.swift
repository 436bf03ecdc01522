#if os(Linux)

import Foundation
import Testing

/// A user's code in Swift 5 mode cannot connect methods, because a method's type there need not
/// name its actor.
@Suite struct Swift5ModeTests {
    /// Methods with and without the main actor in their types, and a method whose type hides its
    /// other actor.
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

    /// Every form of a call for a method.
    private static func calls(of type: String) -> [String] {
        ["changed", "closed"].flatMap { method in
            ["", ", on: .mainActor", ", on: .main", ", on: .postingThread"].flatMap { target in
                [
                    "center.connect(nil, to: \(type).\(method), of: object\(target))",
                    "center.connect(nil, from: center, to: \(type).\(method), of: object, owner: center\(target))",
                    "center.connect(.init(\"name\"), to: \(type).\(method), of: object\(target))",
                    "small.connect(nil, to: \(type).\(method), of: object\(target))",
                ]
            }
        }
    }

    /// The compiler's message for each of some statements about an object of a type, in functions
    /// with an attribute.
    private func diagnostics(
        of statements: [String], type: String, in function: String, mode: Int, options: [String]
    ) throws -> [String] {
        let functions = statements.enumerated().map { index, statement in
            """
            #sourceLocation(file: "Statements.swift", line: \(1000 + index))
            \(function) use\(index)(_ center: ObserverCenter, _ small: some NotifyingCenter, \
            _ object: \(type)) { \(statement) }

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

    private static let inferring = ["-enable-upcoming-feature", "InferSendableFromCaptures"]
    private static let isolating = ["-default-isolation", "MainActor"]

    @Test(
        arguments: ["Shown", "Hidden", "HiddenElsewhere", "Unmarked"],
        [[], inferring + isolating]
    )
    func `P1 in Swift 5 mode no method connects, because its type may hide its actor`(
        type: String, options: [String]
    ) throws {
        let statements = Swift5ModeTests.calls(of: type)
        for function in ["func", "nonisolated func", "@MainActor func"] {
            let texts = try diagnostics(
                of: statements, type: type, in: function, mode: 5, options: options)
            for (statement, text) in zip(statements, texts) {
                #expect(text.contains("error:"), "\(function) \(statement)\n\(text)")
            }
        }
    }

    @Test(arguments: [("Shown", []), ("Hidden", []), ("Unmarked", isolating)])
    func `P1 in Swift 6 mode the types of the same methods name the main actor`(
        type: String, options: [String]
    ) throws {
        let statements = Swift5ModeTests.calls(of: type)
        let texts = try diagnostics(
            of: statements, type: type, in: "func", mode: 6, options: options)
        for (statement, text) in zip(statements, texts) {
            let elsewhere =
                statement.contains("on: .main)") || statement.contains("on: .postingThread)")
            #expect(
                elsewhere ? text.contains("callTheMethodInAClosureOfObserve") : text == "",
                "\(statement)\n\(text)")
        }
    }
}

#endif
