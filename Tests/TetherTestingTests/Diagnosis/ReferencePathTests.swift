import Foundation
import Testing
import Tether

@testable import TetherTesting

/// The printed paths from a closure or an object to a retained object.
@Suite struct ReferencePathTests {
    typealias Handler = @Sendable (Notification) -> Void

    final class Owner: @unchecked Sendable {
        var other: Owner?
        var model: Model?
        var number = 5
        var action: (@Sendable () -> Void)?
        func handle(_ note: Notification) { number += 1 }
        deinit { number = 0 }
    }

    final class Model: @unchecked Sendable {
        struct Delegates {
            var first = "a name"
            var owner: Owner?
        }
        enum Choice {
            case none
            case one(Int, Owner)
            indirect case two(Choice)
        }
        var name = "model"
        var delegates = Delegates()
        var owners: [Owner] = []
        var byName: [String: Owner] = [:]
        var choice = Choice.none
        var any: Any = 5
        var box: any AnyObject & Sendable = Probe()
        weak var weakOwner: Owner?
        unowned let unownedOwner: Owner
        let guarded = Locked<(Int, Owner?)>((1, nil))
        var action: (@Sendable () -> Void)?
        lazy var later: Owner = Owner()
        init(unowned owner: Owner) { unownedOwner = owner }
        final class Probe: Sendable {}
    }

    /// The path from a handler to an object, in words.
    private func words(_ owner: Owner, _ handler: @escaping Handler) -> String? {
        ObjectGraph().paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(owner)])
            .values.first?
            .sentence(from: .closure)
    }

    private func expectCapture(
        _ owner: Owner, sourceLocation: SourceLocation = #_sourceLocation,
        _ handler: @escaping Handler
    ) {
        let words = words(owner, handler)
        #expect(words == "captures it", sourceLocation: sourceLocation)
    }

    private func expectNoCapture(
        _ owner: Owner, sourceLocation: SourceLocation = #_sourceLocation,
        _ handler: @escaping Handler
    ) {
        let words = words(owner, handler)
        #expect(words == nil, sourceLocation: sourceLocation)
    }

    private func expectProperty(
        _ property: String?, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (Model, Owner) -> Void
    ) {
        let words = wordsOfModel(change)
        #expect(
            words == property.map { "captures Model, whose \($0)" }, sourceLocation: sourceLocation)
    }

    private func cycle(through owner: Owner) -> ReferencePath? {
        ObjectGraph().paths(from: HeapObject(owner), to: [HeapObject(owner)]).values.first
    }

    private func wordsOfModel(_ change: (Model, Owner) -> Void) -> String? {
        let owner = Owner()
        let model = Model(unowned: owner)
        change(model, owner)
        defer { model.action = nil }
        return words(owner) { _ in withExtendedLifetime(model) {} }
    }

    @Test func `L3 a strong capture is found among captures of all kinds`() {
        let owner = Owner()
        let (number, text) = (owner.number, "text \(owner.number)")
        let optional: Owner? = owner
        let any: any Sendable = owner
        let tuple = (number, owner)
        expectCapture(owner) { _ in owner.number = 1 }
        expectCapture(owner) { _ in owner.number = number + text.count }
        expectCapture(owner) { _ in print(text, number, optional as Any) }
        expectCapture(owner) { _ in print(any, number) }
        expectCapture(owner) { _ in print(tuple, number) }
        expectCapture(owner, owner.handle)
    }

    @Test func `L3 weak and unowned captures, and no capture, are distinguished from strong ones`()
    {
        let owner = Owner()
        let number = owner.number
        expectNoCapture(owner) { [weak owner] _ in owner?.number = number }
        expectNoCapture(owner) { [weak owner] _ in owner?.number = 1 }
        expectNoCapture(owner) { [unowned owner] _ in owner.number = number }
        expectNoCapture(owner) { [unowned owner] _ in owner.number = 1 }
        expectNoCapture(owner) { [unowned(unsafe) owner] _ in unsafe owner.number = 1 }
        let address = UInt(bitPattern: ObjectIdentifier(owner))
        expectNoCapture(owner) { _ in print(address, number) }
        expectNoCapture(owner) { _ in }
    }

    @Test func `L3 a capture is found through variables, nested closures and thunks`() {
        let owner = Owner()
        nonisolated(unsafe) var variable: Owner? = owner
        let inner: @Sendable (Int) -> Void = { number in owner.number = number }
        let numbers = [1, 2]
        expectCapture(owner) { _ in unsafe variable?.number = 2 }
        expectCapture(owner) { _ in inner(numbers.count) }
        expectCapture(owner) { _ in numbers.forEach(inner) }
        let reabstracted = through { (_: Notification) in owner.number = numbers.count }
        expectCapture(owner, reabstracted)
        let stored: [Handler] = [{ _ in owner.number = 3 }]
        expectCapture(owner, stored[0])
        unsafe variable = nil
    }

    @Test func `L3 an owner is found in the fields of an object that is captured`() {
        expectProperty("`delegates.owner` refers to it") { $0.delegates.owner = $1 }
        expectProperty("`owners[1]` refers to it") { $0.owners = [Owner(), $1] }
        expectProperty("`byName[…]` refers to it") { $0.byName = ["a": Owner(), "b": $1] }
        expectProperty("`choice.1` refers to it") { $0.choice = .one(2, $1) }
        expectProperty("`any` refers to it") { $0.any = $1 }
        expectProperty("`any.owner` refers to it") { $0.any = Model.Delegates(owner: $1) }
        expectProperty("`box` refers to it") { $0.box = $1 }
        expectProperty("`later` refers to it") { $0.later = $1 }
        // The runtime hides the type.
        expectProperty(nil) { model, owner in model.guarded.withLock { $0 = (2, owner) } }
        expectProperty("`action` is a closure that captures it") { model, owner in
            model.action = { owner.number = 2 }
        }
    }

    @Test func `L3 an object that refers to the owner weakly, or not at all, is no reason`() {
        expectProperty(nil) { $0.weakOwner = $1 }
        expectProperty(nil) { _, _ in }
        expectProperty(nil) { model, owner in model.action = { [weak owner] in owner?.number = 2 } }
    }

    @Test func `L3 cycles are found, of one object and of two`() {
        let (first, second) = (Owner(), Owner())
        first.other = second
        #expect(cycle(through: first) == nil)
        second.other = first
        #expect(cycle(through: first)?.sentence(from: .itself) == "its `other.other` refers to it")
        second.other = nil
        first.other = first
        #expect(cycle(through: first)?.sentence(from: .itself) == "its `other` refers to it")
        first.other = nil
        first.action = { first.number = 2 }
        #expect(
            cycle(through: first)?.sentence(from: .itself)
                == "its `action` is a closure that captures it")
        first.action = nil
        withExtendedLifetime(second) {}
    }
}

private func through<Value>(_ function: @escaping @Sendable (Value) -> Void)
    -> @Sendable (Value) -> Void
{ function }
