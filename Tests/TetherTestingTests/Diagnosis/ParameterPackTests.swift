import Foundation
import Testing
import Tether

@testable import TetherTesting

/// Handlers made in generic code, whose types have generic parameters or packs.
///
/// The runtime stops a process that requests a type without its parameters.
@Suite struct ParameterPackTests {
    typealias Handler = @Sendable (Notification) -> Void
    typealias Owner = ReferencePathTests.Owner

    class Model<each Value: Sendable>: @unchecked Sendable {
        var values: (repeat each Value)
        init(_ values: repeat each Value) { self.values = (repeat each values) }

        func weakly() -> Handler { { [weak self] _ in print(self?.values as Any) } }

        func weakly(and other: Owner) -> Handler {
            { [weak self] _ in print(self?.values as Any, other) }
        }

        func unowned(and other: Owner) -> Handler {
            { [unowned self] _ in print(self.values, other) }
        }

        func strongly() -> Handler { { _ in print(self.values) } }

        func byValue(and other: Owner) -> Handler { { [values] _ in print(values, other) } }

        func inVariable() -> Handler {
            nonisolated(unsafe) weak var me: Model?
            unsafe me = self
            return { _ in unsafe print(me?.values as Any) }
        }
    }

    class Pair<First: Sendable, Second: Sendable>: @unchecked Sendable {
        var values: (First, Second)
        var optional: First?
        init(_ first: First, _ second: Second) { values = (first, second) }

        func weakly() -> Handler { { [weak self] _ in print(self?.values as Any) } }

        func strongly() -> Handler { { _ in print(self.values) } }

        func strongly(and other: Owner) -> Handler { { _ in print(self.values, other) } }

        func listed(and other: Owner) -> Handler {
            let list = [values.1, values.1]
            return { _ in print(list, other) }
        }

        func byValue(and other: Owner) -> Handler {
            { [values, optional] _ in print(values, optional as Any, other) }
        }

        func weakly(and other: Owner) -> Handler {
            { [weak self] _ in print(self?.values as Any, other) }
        }
    }

    private func words(_ object: AnyObject, _ handler: @escaping Handler) -> String? {
        ObjectGraph().paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(object)])
            .values.first?
            .sentence(from: .closure)
    }

    @Test func `L3 a handler made beside a known parameter pack captures weakly without a crash`() {
        let owner = Owner()
        let model = Model(1, "text", owner)
        #expect(words(model, model.weakly()) == nil)
        #expect(words(model, model.inVariable()) == nil)
        #expect(words(model, model.weakly(and: owner)) == nil)
        #expect(words(model, model.unowned(and: owner)) == nil)
    }

    @Test func `L3 a capture behind a weak or an unowned one in such a handler is found`() {
        let owner = Owner()
        let model = Model(1, "text", Owner())
        #expect(words(owner, model.weakly(and: owner)) == "captures it")
        #expect(words(owner, model.unowned(and: owner)) == "captures it")
    }

    @Test func `L3 a value of a parameter pack's types is untold, and nothing crashes`() {
        let (owner, other) = (Owner(), Owner())
        let model = Model(1, "text", owner)
        for handler in [
            model.byValue(and: other), model.strongly(), packed(1, owner), packed(owner),
        ] {
            let isNothingElse = words(owner, handler)?.hasPrefix("captures") != false
            #expect(isNothingElse)
        }
        #expect(
            words(owner) { _ in print(model) }
                == "captures Model<Pack{Int, String, Owner}>, whose `values.2` refers to it")
    }

    @Test func `L3 a generic parameter that only the captures fix crashes nothing`() {
        let (owner, other) = (Owner(), Owner())
        let pair = Pair(1, owner)
        #expect(words(pair, pair.weakly()) == nil)
        #expect(words(other, pair.weakly(and: other)) == "captures it")
        #expect(words(pair, pair.strongly()) == "captures it")
        #expect(words(pair, pair.strongly(and: other)) == "captures it")
        #expect(words(other, pair.strongly(and: other)) == "captures it")
        #expect(
            words(owner, pair.listed(and: other))
                == "captures a collection, whose `[0]` refers to it")
        for handler in [pair.strongly(), pair.byValue(and: other)] {
            let isNothingElse = words(owner, handler)?.hasPrefix("captures") != false
            #expect(isNothingElse)
        }
    }
}

@inline(never)
private func packed<each Value: Sendable>(_ value: repeat each Value) -> ParameterPackTests.Handler
{
    { _ in
        repeat print(each value)
    }
}
