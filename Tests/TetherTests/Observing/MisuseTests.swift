import Foundation
import Testing
import Tether

/// Programmer errors, which stop the program with one sentence: the call, the value, the remedy.
@Suite struct MisuseTests {
    private struct Unhashable { let number = 41 }
    private final class HashableObject: Hashable, Sendable {
        static func == (a: HashableObject, b: HashableObject) -> Bool { a === b }
        func hash(into hasher: inout Hasher) {}
    }
    private final class Owner: Sendable { func changed(_ notification: Notification) {} }

    private func sentence(_ result: ExitTest.Result) -> String {
        String(decoding: result.standardErrorContent, as: UTF8.self)
    }

    @Test func `X1 M4 a sender that is a value and not Hashable is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = ObserverCenter().addObserver(forName: .sample, object: Unhashable(), queue: nil) { _ in }
        }
        let sentence = sentence(result)
        #expect(sentence.contains("ObserverCenter.addObserver(forName:object:queue:using:)"))
        #expect(sentence.contains("Unhashable(number: 41)"))
        #expect(sentence.contains("is not Hashable"))
        #expect(sentence.contains("pass a class instance or a Hashable value"))
    }

    @Test func `X1 M4 a sender that is an optional of such a value is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let nested: Unhashable?? = Unhashable()
            _ = ObserverCenter().addObserver(forName: nil, object: nested as Any, queue: nil) { _ in }
        }
        let sentence = sentence(result)
        #expect(sentence.contains("ObserverCenter.addObserver(forName:object:queue:using:)"))
        #expect(sentence.contains("Unhashable(number: 41)"))
        #expect(sentence.contains("pass a class instance or a Hashable value"))
    }

    @Test func `X1 M4 a sender that is not equal to itself is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = ObserverCenter().addObserver(forName: nil, object: Double.nan, queue: nil) { _ in }
        }
        let sentence = sentence(result)
        #expect(sentence.contains("ObserverCenter.addObserver(forName:object:queue:using:)"))
        #expect(sentence.contains("the sender nan is not equal to itself"))
        #expect(sentence.contains("pass a value that is"))
    }

    @Test func `X1 M4 M7 a key that is not equal to itself is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = ObserverCenter().observe(.sample, key: Double.nan) { _ in }
        }
        let sentence = sentence(result)
        #expect(sentence.contains("observe(_:key:)"))
        #expect(sentence.contains("the key nan is not equal to itself"))
        #expect(sentence.contains("pass a key that is"))
    }

    @Test func `X1 M7 O2 a key that is an object is refused, also in a box`() async throws {
        let plain = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ObserverCenter().observe(.sample, key: HashableObject()) { _ in }
        }
        let boxed = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let owner = HashableObject()
            ObserverCenter().observe(.sample, owner: owner, key: AnyHashable(Optional(owner))) { _, _ in }
        }
        for sentence in [plain, boxed].map(sentence) {
            #expect(sentence.contains("observe(_:key:): the key is the object HashableObject 0x"))
            #expect(sentence.contains("which its observer would keep; pass a value that names it"))
        }
    }

    @Test func `X1 M4 a value that was cast to AnyObject is refused as a sender`() async throws {
        let results = [
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = ObserverCenter().observe(.sample, from: Unhashable() as AnyObject) { _ in }
            },
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let sender: AnyObject? = Unhashable() as AnyObject
                _ = ObserverCenter().addObserver(forName: nil, object: sender, queue: nil) { _ in }
            },
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                ObserverCenter().connect(.sample, from: Unhashable() as AnyObject, to: Owner.changed, of: Owner())
            },
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = ObserverCenter().register(name: .sample, sender: Unhashable() as AnyObject) { _ in }
            },
        ]
        let calls = [
            "observe(_:from:on:once:key:backlog:_:): ", "ObserverCenter.addObserver(forName:object:queue:using:): ",
            "connect(_:from:to:of:",
            "ObserverCenter.register(name:sender:handler:): ",
        ]
        for (sentence, call) in zip(results.map(sentence), calls) {
            #expect(sentence.contains(call))
            #expect(sentence.contains("Unhashable(number: 41) is a value in a box, and each cast to AnyObject makes"))
            #expect(sentence.contains("pass a Hashable value to addObserver(forName:object:queue:using:), or pass"))
        }
    }

    @Test func `X1 O1 a value that was cast to AnyObject is refused as an owner`() async throws {
        let results = [
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                ObserverCenter().observe(.sample, owner: Unhashable() as AnyObject) { _, _ in }
            },
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let method: @Sendable (AnyObject) -> (Notification) -> Void = { _ in { _ in } }
                ObserverCenter().connect(.sample, to: method, of: Unhashable() as AnyObject)
            },
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let method: @Sendable (AnyObject) -> (Notification) -> Void = { _ in { _ in } }
                ObserverCenter().connect(.sample, to: method, of: Unhashable() as AnyObject, owner: Owner())
            },
        ]
        let calls = [
            "observe(_:from:owner:on:once:key:backlog:_:)", "connect(_:from:to:of:owner:on:once:key:)",
            "connect(_:from:to:of:owner:on:once:key:)",
        ]
        for (sentence, call) in zip(results.map(sentence), calls) {
            #expect(sentence.contains("\(call): Unhashable(number: 41) is a value in a box"))
        }
    }
}
