import Dispatch
import Foundation
import Tether

private struct Failure: Error {}

/// Attaches itself before the `init` throws.
private class Throwing {
    let words = ["one", "two"]

    init(_ center: ObserverCenter) throws {
        center.observe(.checked, owner: self) { _, _ in }
        throw Failure()
    }
}

private final class Watched {
    let order: Order

    init(_ order: Order) { self.order = order }
    deinit { order.add("deinit") }
}

@globalActor actor Elsewhere {
    static let shared = Elsewhere()
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
@Elsewhere private final class EndsElsewhere {
    let order: Order

    nonisolated init(_ order: Order) { self.order = order }

    isolated deinit {
        order.add("deinit")
        order.hasEnded.signal()
    }
}

extension Checks {
    func throwingInits() {
        let center = ObserverCenter()
        for _ in 0..<100 { expect((try? Throwing(center)) == nil, "an init that throws did not") }
        expect(center.audit().isEmpty, "an init that throws left observers behind")
    }

    /// Weak and unowned references of the user's own, made before and after the owner was attached.
    func otherReferences() {
        for isFirst in [true, false] {
            let (center, order) = (ObserverCenter(), Order())
            var owner: Watched? = Watched(order)
            escape(owner!)
            if !isFirst { center.observe(.checked, owner: owner!) { _, _ in } }
            weak let weakly = owner
            let unretained = Unowned(owner!)
            if isFirst { center.observe(.checked, owner: owner!) { _, _ in } }
            expect(weakly != nil && unretained.object === owner, "a reference lost its owner")
            owner = nil
            letGo()
            expect(weakly == nil, "a weak reference kept its owner")
            expect(order.all == ["deinit"], "an owner with references ended as \(order.all)")
            expect(center.audit().isEmpty, "an owner with references left observers behind")
            withExtendedLifetime(unretained) {}
        }
    }

    private final class Unowned {
        unowned let object: Watched
        init(_ object: Watched) { self.object = object }
    }

    /// Owners whose `deinit` is sent to an actor. Their observers end at the release of the last
    /// reference.
    func isolatedDeinits() {
        guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *) else {
            return
        }
        for isSender in [true, false] {
            let (center, order) = (ObserverCenter(), Order())
            let token = attach(to: EndsElsewhere(order), on: center, asSender: isSender)
            letGo()
            if !isSender {
                expect(!token.isActive, "an observer outlived an owner with an isolated deinit")
            }
            let deadline = DispatchTime.now() + 30
            expect(
                order.hasEnded.wait(timeout: deadline) == .success, "an isolated deinit never ran")
            // The thread of the `deinit` may take a moment to return.
            while token.isActive, DispatchTime.now() < deadline { usleep(100) }
            expect(order.all == ["deinit"], "an isolated deinit ran as \(order.all)")
            expect(
                !token.isActive && center.audit().isEmpty,
                "an isolated deinit left observers behind")
        }
    }

    @inline(never)
    private func attach(to object: AnyObject, on center: ObserverCenter, asSender: Bool)
        -> NotificationObserver
    {
        escape(object)
        return asSender
            ? center.observe(.checked, from: object) { _ in }
            : center.observe(.checked, owner: object) { _, _ in }
    }

    // MARK: Many classes

    /// Hooks 2 to the power of `depth` instantiations of generic classes, with one instance each.
    func manyClasses(depth: Int) {
        let center = ObserverCenter()
        var owners: [AnyObject] = []
        func make<Value>(_ type: Value.Type, _ depth: Int) {
            owners.append(Generic<Value, Int>())
            owners.append(Namespace<Value>.Nested())
            guard depth > 0 else { return }
            make([Value].self, depth - 1)
            make(Value?.self, depth - 1)
        }
        make(Int.self, depth)
        for owner in owners { center.observe(.checked, owner: owner) { _, _ in } }
        expect(owners.count > 10_000 || depth < 12, "only \(owners.count) classes were made")
        expect(center.audit().count == owners.count, "some of many classes were not attached to")
        owners = []
        expect(center.audit().isEmpty, "some of many classes left observers behind")
    }

    /// Fresh classes, each hooked by several threads at once.
    func hooksFromManyThreads() {
        let center = ObserverCenter()
        func make<Value>(_ type: Value.Type, _ depth: Int) {
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let owner = Generic<Value, Checks>()
                center.observe(.checked, owner: owner) { _, _ in }
            }
            if depth > 0 { make([Value].self, depth - 1) }
        }
        make(String.self, 60)
        expect(center.audit().isEmpty, "classes hooked from many threads left observers behind")
    }

    /// A class that is hooked while instances are deallocated on other threads.
    func instancesThatDieMeanwhile() {
        let center = ObserverCenter()
        func make<Value>(_ type: Value.Type, _ depth: Int) {
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                for number in 0..<200 {
                    let object = Generic<Value, Order>()
                    if index == 0, number == 100 {
                        center.observe(.checked, owner: object) { _, _ in }
                    }
                    withExtendedLifetime(object) {}
                }
            }
            if depth > 0 { make([Value].self, depth - 1) }
        }
        make(Double.self, 30)
        expect(center.audit().isEmpty, "a class hooked while instances died left observers behind")
    }

    // MARK: Another library

    /// A class from a library that is opened at run time.
    func anotherLibrary(at path: String) {
        guard let library = unsafe dlopen(path, RTLD_NOW),
            let symbol = unsafe dlsym(library, "make_library_owner")
        else {
            return expect(false, "the library \(path) cannot be opened")
        }
        typealias Make = @convention(c) () -> UnsafeMutableRawPointer
        // SAFETY: the library's function returns an object with a reference for the caller.
        let make = unsafe unsafeBitCast(symbol, to: Make.self)
        check("a class of another library") {
            unsafe Unmanaged<AnyObject>.fromOpaque(make()).takeRetainedValue()
        }
        check("the same class again") {
            unsafe Unmanaged<AnyObject>.fromOpaque(make()).takeRetainedValue()
        }
    }
}
