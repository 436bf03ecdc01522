import Foundation
import Testing
import Tether

/// Programmer errors, which stop the program with a sentence: the call, the value, the remedy.
@Suite struct MisuseTests {
    private struct Misuse: Sendable {
        let name: String
        let sentences: [String]
        let body: @Sendable () async -> Void

        init(_ name: String, _ sentences: String..., body: @escaping @Sendable () async -> Void) {
            (self.name, self.sentences, self.body) = (name, sentences, body)
        }
    }

    private struct Unhashable { let number = 41 }
    private final class HashableObject: Hashable, Sendable {
        static func == (a: HashableObject, b: HashableObject) -> Bool { a === b }
        func hash(into hasher: inout Hasher) {}
    }
    private final class Owner: Sendable { func changed(_ notification: Notification) {} }
    private actor Index {}

    private static let addObserver = "ObserverCenter.addObserver(forName:object:queue:using:): "
    private static let hashable = "pass a class instance or a Hashable value"
    private static let boxed =
        "Unhashable(number: 41) is a value in a box, and each cast to AnyObject makes"
    private static let value =
        "pass a Hashable value as ValueSender(value), or pass"
    private static let object = "the key is the object HashableObject 0x"
    private static let naming = "which its observer would keep; pass a value that names it"

    private static let sendersAndOwners = [
        Misuse(
            "a sender that is not Hashable", addObserver, "Unhashable(number: 41)",
            "is not Hashable", hashable
        ) {
            _ = ObserverCenter().addObserver(forName: .sample, object: Unhashable(), queue: nil) {
                _ in
            }
        },
        Misuse("an optional of such a sender", addObserver, "Unhashable(number: 41)", hashable) {
            let nested: Unhashable?? = Unhashable()
            _ = ObserverCenter().addObserver(forName: nil, object: nested as Any, queue: nil) { _ in
            }
        },
        Misuse(
            "not a number", addObserver, "the sender nan is not equal to itself",
            "pass a value that is"
        ) {
            _ = ObserverCenter().addObserver(forName: nil, object: Double.nan, queue: nil) { _ in }
        },
        Misuse(
            "a key", "observe(_:from:on:once:key:backlog:_:): ",
            "the key nan is not equal to itself",
            "pass a key that is"
        ) {
            _ = ObserverCenter().observe(.sample, key: Double.nan) { _ in }
        },
        Misuse(
            "no value in a value sender", "observe(_:from:on:once:key:backlog:_:): ",
            "the sender ValueSender(nil) is no value", "leave 'from:' out to observe any sender"
        ) {
            _ = ObserverCenter().observe(.sample, from: ValueSender(Int?.none)) { _ in }
        },
        Misuse("an object as a key", object, naming) {
            _ = ObserverCenter().observe(.sample, key: HashableObject()) { _ in }
        },
        Misuse("an object in a box as a key", object, naming) {
            let owner = HashableObject()
            ObserverCenter().observe(.sample, owner: owner, key: AnyHashable(Optional(owner))) {
                _, _ in
            }
        },
        Misuse("a boxed sender", "observe(_:from:on:once:key:backlog:_:): ", boxed, value) {
            _ = ObserverCenter().observe(.sample, from: Unhashable() as AnyObject) { _ in }
        },
        Misuse("a boxed sender of Foundation's call", addObserver, boxed, value) {
            let sender: AnyObject? = Unhashable() as AnyObject
            _ = ObserverCenter().addObserver(forName: nil, object: sender, queue: nil) { _ in }
        },
        Misuse("a boxed sender of a method", "connect(_:from:to:of:", boxed, value) {
            ObserverCenter().connect(
                .sample, from: Unhashable() as AnyObject, to: Owner.changed, of: Owner())
        },
        Misuse(
            "a registered boxed sender", "ObserverCenter.register(name:sender:handler:): ", boxed,
            value
        ) {
            _ = ObserverCenter().register(name: .sample, sender: Unhashable() as AnyObject) { _ in }
        },
        Misuse("a boxed owner", "observe(_:from:owner:on:once:key:backlog:_:): ", boxed) {
            ObserverCenter().observe(.sample, owner: Unhashable() as AnyObject) { _, _ in }
        },
        Misuse("a boxed receiver", "connect(_:from:to:of:owner:on:once:key:backlog:): ", boxed) {
            let method: @Sendable (AnyObject) -> (Notification) -> Void = { _ in { _ in } }
            ObserverCenter().connect(.sample, to: method, of: Unhashable() as AnyObject)
        },
        Misuse(
            "a boxed receiver beside an owner",
            "connect(_:from:to:of:owner:on:once:key:backlog:): ", boxed
        ) {
            let method: @Sendable (AnyObject) -> (Notification) -> Void = { _ in { _ in } }
            ObserverCenter().connect(
                .sample, to: method, of: Unhashable() as AnyObject, owner: Owner())
        },
    ]

    private static let noSize = "pass 1 or more, or .unbounded"
    private static let registered =
        "NotificationObserver.target: the target of the observer registered at TetherTests/"
    private static let stays =
        "or feeds a sequence, or it is an owner's task or loop; register a synchronous handler with on:."

    private static let flowControl = [
        Misuse("a buffer of 0", "newest(_:): a buffer of 0 keeps nothing", noSize) {
            _ = ObserverCenter().notifications(named: .sample, buffering: .newest(0))
        },
        Misuse("a buffer below 0", "oldest(_:): a buffer of -3 keeps nothing", noSize) {
            _ = ObserverCenter().notifications(named: .sample, buffering: .oldest(-3))
        },
        Misuse("a backlog below 0", "a buffer of -3", noSize) {
            ObserverCenter().observe(.sample) { _ in }.backlog = .newest(-3)
        },
        Misuse(
            "unmuting too often",
            "NotificationObserver.unmute(): the observer registered at TetherTests/",
            "was not muted by its token; call unmute() once for each mute("
        ) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            token.mute()
            token.unmute()
            withExtendedLifetime(center) { token.unmute() }
        },
        Misuse(
            "unmuting an owner's muting", "OwnerObservers.unmute() for each OwnerObservers.mute("
        ) {
            let (owner, center) = (Owner(), ObserverCenter())
            let token = center.observe(.sample, owner: owner) { _, _ in }
            OwnerObservers(of: owner).mute()
            token.unmute()
            withExtendedLifetime((owner, center)) {}
        },
        Misuse("the target of the main actor's handler", registered, stays) {
            let center = ObserverCenter()
            let token = center.observe(.sample, on: .mainActor) { _ in }
            withExtendedLifetime(center) { token.target = .main }
        },
        Misuse("the target of an actor's handler", registered, stays) {
            let (center, index) = (ObserverCenter(), Index())
            center.observe(.sample, owner: index) { (_: isolated Index, _) in }.target = .main
            withExtendedLifetime((center, index)) {}
        },
        Misuse("the target of an async handler", registered, stays) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in await Task.yield() }
            withExtendedLifetime(center) { token.target = .postingThread }
        },
        Misuse("the target of a sequence", registered, stays) {
            let (center, owner) = (ObserverCenter(), Owner())
            let notifications = center.notifications(named: .sample, owner: owner)
            for observer in OwnerObservers(of: owner) { observer.target = .main }
            withExtendedLifetime((center, owner, notifications)) {}
        },
        Misuse("the target of an owner's task", registered, stays) {
            let owner = Owner()
            let task = Task(owner: owner) { try? await Task.sleep(for: .seconds(60)) }
            for observer in OwnerObservers(of: owner) { observer.target = .main }
            withExtendedLifetime((owner, task)) {}
        },
    ]

    /// Returns the text of the standard error.
    private func expectRefused(_ misuse: Misuse, _ result: ExitTest.Result) -> String {
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        for sentence in misuse.sentences { #expect(text.contains(sentence), "\(misuse.name)") }
        return text
    }

    @Test(arguments: sendersAndOwners.indices)
    func `X1 M7 O1 a sender, key or owner that can never match is refused with the remedy`(
        index: Int
    )
        async throws
    {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            [index] in await MisuseTests.sendersAndOwners[index].body()
        }
        let misuse = MisuseTests.sendersAndOwners[index]
        let text = expectRefused(misuse, result)
        // The place of the call, where the call has one.
        #expect(
            text.contains("TetherTests/MisuseTests.swift:") != misuse.name.hasPrefix("a registered")
        )
    }

    @Test(arguments: flowControl.indices)
    func `X1 S3 D9 a wrong size, an extra unmuting and a fixed target are refused`(
        index: Int
    ) async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            [index] in await MisuseTests.flowControl[index].body()
        }
        let misuse = MisuseTests.flowControl[index]
        let text = expectRefused(misuse, result)
        // The place of the call. The other sentences name the place of the registration.
        guard misuse.sentences.contains(MisuseTests.noSize) else { return }
        #expect(text.contains("TetherTests/MisuseTests.swift:"), "\(text)")
    }
}
