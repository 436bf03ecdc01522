import Foundation
import Testing
import Tether

/// The table of misuses has every sentence that stops a program. The other tests are of misuses
/// without a suite of their own.
@Suite struct MisuseTableTests {
    /// The sentences of the table in the documentation.
    private func table() throws -> [String] {
        let page = Package.root.appending(path: "Sources/Tether/Tether.docc/Misuse.md")
        return try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| ") }.dropFirst()
            .map {
                String($0.split(separator: "|")[1]).trimmingCharacters(
                    in: CharacterSet(charactersIn: " `"))
            }
    }

    /// The sentences in the sources, with "…" for each value, and for a call that `CallSite` names.
    private func sentences() throws -> [String] {
        var sentences: [String] = []
        for folder in ["Sources/Tether", "Sources/TetherTesting"] {
            let root = Package.root.appending(path: folder).path
            for file in try FileManager.default.subpathsOfDirectory(atPath: root)
            where file.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(root)/\(file)", encoding: .utf8)
                let calls = text.components(separatedBy: "fatalError(").dropFirst()
                    .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
                sentences += calls.filter { !$0.hasPrefix("\"\\(\"") }.map(literal)
                sentences += text.components(separatedBy: "site.refuse(").dropFirst().map {
                    "…: " + literal(at: $0)
                }
            }
        }
        // The body of a former name, which no program can call.
        return sentences.filter { $0 != "unavailable" }
    }

    /// The joined string literals at the beginning of a text.
    private func literal(at text: String) -> String {
        var (literal, isInside, depth) = ("", false, 0)
        var rest = Substring(text)
        while let character = rest.popFirst() {
            if depth > 0 {
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
            } else if isInside, character == "\\", rest.first == "(" {
                rest.removeFirst()
                depth = 1
                literal += "…"
            } else if character == "\"" {
                isInside.toggle()
            } else if isInside {
                literal.append(character)
            } else if character == ")" {
                break
            }
        }
        return literal
    }

    @Test func `X1 the table holds every sentence that stops a program`() throws {
        let own = try sentences()
        #expect(own.count == Set(own).count && own.count > 10)
        #expect(try Set(table()) == Set(own))
    }

    @Test func `X1 each sentence names a remedy after the call and the value`() throws {
        for sentence in try table() {
            #expect(
                sentence.hasSuffix(".") && sentence.contains("; ") && sentence.contains(": "),
                "\(sentence)")
        }
    }

    private func sentence(_ result: ExitTest.Result) -> String {
        String(decoding: result.standardErrorContent, as: UTF8.self)
    }

    @Test func `X1 D5 a thread that has not prepared itself is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = DeliveryTarget.thread(Thread {})
        }
        #expect(sentence(result).contains("TetherTests/MisuseTableTests.swift:"))
        #expect(sentence(result).contains("thread(_:modes:): the run loop of this thread is"))
        #expect(sentence(result).contains("call RunLoopThread.prepareCurrentThread() on the"))
    }

    @Test func `X1 D5 a thread target without modes is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            targetWithoutModes()
        }
        #expect(sentence(result).contains("thread(_:modes:): the set of modes is empty"))
        #expect(sentence(result).contains("pass one, such as .common"))
    }

    @Test func `X1 Q5 a post that is enqueued for no modes is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            enqueueForNoModes()
        }
        #expect(
            sentence(result).contains("PostingQueue.enqueue(_:postingStyle:coalesceMask:forModes:)")
        )
        #expect(
            sentence(result).contains("\(Notification.Name.sample.rawValue) could never be posted"))
        #expect(sentence(result).contains("pass nil for the default mode, or .common"))
    }
}

// Synchronous functions, because an async function may change threads.

private func enqueueForNoModes() {
    PostingQueue(notificationCenter: ObserverCenter()).enqueue(
        Notification(name: .sample), postingStyle: .asap, forModes: [])
}

private func targetWithoutModes() {
    RunLoopThread.prepareCurrentThread()
    _ = DeliveryTarget.thread(.current, modes: [])
}
