import Testing

/// A program, and the compiler's message.
struct Mistake: Sendable, CustomTestStringConvertible {
    let program: String
    let sentence: String
    let function: String

    init(_ program: String, _ sentence: String, in function: String = "func") {
        self.program = program
        self.sentence = sentence
        self.function = function
    }

    var testDescription: String { program }
}
