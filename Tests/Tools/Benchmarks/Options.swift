import Foundation

/// The options of the command line. A mistake ends the program with a sentence.
struct Options {
    static let usage = """
        swift run --package-path Tests/Tools -c release Benchmarks [OPTION]…

          --filter TEXT    only the rows whose name contains the text
          --list           the names of the rows, and nothing else
          --quick          without the largest sizes and most rounds
          --busy N         beside N threads that keep processors busy
          --instructions   counts instructions with Valgrind in place of time
          --json FILE      also writes the rows to a file
          --compare FILE   prints the changes since such a file, beyond the noise of both
          --record         makes three full runs, and writes their medians to medians.json, to the
                           tables of README.md and to the three pictures of the documentation
          --record FILE…   the same from the rows of such files, without a run
          --draw           writes the tables and the pictures again from medians.json
          --help           this text
        """

    private(set) var filter: String?
    private(set) var listsOnly = false
    private(set) var isQuick = false
    private(set) var busyCores = 0
    private(set) var countsInstructions = false
    private(set) var json: URL?
    private(set) var comparison: URL?
    /// Whether the medians are recorded: of three runs, or of the rows in `recorded`.
    private(set) var records = false
    private(set) var recorded: [URL] = []
    private(set) var drawsOnly = false
    /// Set in the process under Valgrind.
    private(set) var counted: CountedSide?

    init(_ arguments: [String]) {
        var arguments = arguments[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case "--filter" where !arguments.isEmpty: filter = arguments.removeFirst()
            case "--list": listsOnly = true
            case "--quick": isQuick = true
            case "--busy" where arguments.first.flatMap { Int($0) } != nil:
                busyCores = Int(arguments.removeFirst())!
            case "--instructions": countsInstructions = true
            case "--json" where !arguments.isEmpty: json = URL(filePath: arguments.removeFirst())
            case "--compare" where !arguments.isEmpty:
                comparison = URL(filePath: arguments.removeFirst())
            case "--record":
                records = true
                recorded = arguments.map { URL(filePath: $0) }
                arguments = []
            case "--draw": drawsOnly = true
            case "--help":
                print(Options.usage)
                exit(0)
            case CountedSide.option where arguments.count >= 3: counted = CountedSide(&arguments)
            default:
                Options.fail(
                    "'\(argument)' is not an option, or lacks its value; see --help.")
            }
        }
    }

    /// Says so in a debug build, whose figures mean nothing.
    static func warnOfDebugBuild() {
        assert(
            {
                FileHandle.standardError.write(
                    Data("Benchmarks: a debug build; add the option -c release.\n".utf8))
                return true
            }())
    }

    static func fail(_ sentence: String) -> Never {
        FileHandle.standardError.write(Data("Benchmarks: \(sentence)\n".utf8))
        exit(2)
    }
}
