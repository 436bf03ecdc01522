import Testing

@testable import TetherTesting

/// Names of the demangler, and what the source calls them.
@Suite struct SourceNameTests {
    @Test(arguments: [
        ("App.cache : [Swift.String : App.Model]", "cache"),
        ("static App.Cache.shared : App.Cache", "Cache.shared"),
        ("static App.Outer.Inner.all : Swift.Array<App.Model>", "Outer.Inner.all"),
        (
            "static App.Cache.(shared in _643EAFDBA6441671515D9121EE76E49E) : App.Cache",
            "Cache.shared"
        ),
        ("App.(cache in _643EAFDBA6441671515D9121EE76E49E) : App.Model?", "cache"),
        ("static (extension in App):Swift.Array.empty : Swift.Array<A>", "Array.empty"),
        ("held #1 : App.Model in App.load(from: Swift.String) -> ()", "held` in `load(from:)"),
        ("static App.Box.shared : App.Box<Swift.Int>", "Box.shared"),
    ])
    func `L3 a variable has its name in the source`(demangled: String, name: String) {
        #expect(SourceName(demangled).variable == name)
    }

    @Test(arguments: [
        ("App.load() -> ()", "`load()`"),
        ("App.load(from: Swift.String, Swift.Int) async throws -> App.Model", "`load(from:_:)`"),
        ("static App.Model.make(_: Swift.Int) -> App.Model", "`Model.make(_:)`"),
        ("App.Model.name.getter : Swift.String", "`Model.name`"),
        ("App.Model.init(name: Swift.String) -> App.Model", "`Model.init(name:)`"),
        ("closure #1 () -> () in App.load() -> ()", "a closure in `load()`"),
        (
            "closure #2 @Sendable (Swift.Int) async -> () in closure #1 () -> () in "
                + "App.Model.poll(every: Swift.Duration) -> ()", "a closure in `Model.poll(every:)`"
        ),
        ("closure #1 () -> () in App", "a closure in the top level of App"),
        (
            "partial apply forwarder for closure #1 () -> () in App.load() -> ()",
            "a closure in `load()`"
        ),
        (
            "(1) await resume partial function for closure #1 @Sendable () async -> () in "
                + "App.load() -> ()", "a closure in `load()`"
        ),
        (
            "(2) suspend resume partial function for static (extension in Swift):"
                + "Swift.Task< where A == Swift.Never, B == Swift.Never>.sleep<A where A1: "
                + "Swift.Clock>(for: A1.Duration, tolerance: Swift.Optional<A1.Duration>, "
                + "clock: A1) async throws -> ()", "`Task.sleep(for:tolerance:clock:)`"
        ),
        ("local #1 (Swift.Int) -> () in App.load() -> ()", "`local` in `load()`"),
        (
            "closure #1 () -> () in local #1 () -> () in App.load() -> ()",
            "a closure in `local` in `load()`"
        ),
        ("async function pointer to App.load() async -> ()", "`load()`"),
        ("merged App.load() -> ()", "`load()`"),
        (
            "generic specialization <Swift.Int> of App.Box.fill(A) -> ()", "`Box.fill(_:)`"
        ),
        ("App.run(_: (Swift.Int) -> Swift.String) -> ()", "`run(_:)`"),
        (
            "closure #1 () -> () in variable initialization expression of App.Model.all : App.Model",
            "a closure in `Model.all`"
        ),
        (
            "closure #1 () -> () in App.`a test in a suite`() -> ()",
            "a closure in `a test in a suite()`"
        ),
    ])
    func `L3 code has its name in the source`(demangled: String, name: String) {
        #expect(SourceName(demangled).code == name)
    }

    @Test(arguments: [
        "reabstraction thunk helper from @escaping () -> () to @escaping () -> ()",
        "outlined copy of App.Model?",
        "async_Main",
    ])
    func `L3 code of the compiler's own has no name`(demangled: String) {
        #expect(SourceName(demangled).code == nil)
    }

    @Test(arguments: [
        ("weak App.Model?", true), ("unowned App.Model", true), ("Swift.Int", true),
        ("Swift.Optional<Swift.Int>", true), ("App.Model", false),
        ("Swift.Array<App.Model>", false),
    ])
    func `L3 a variable of a number or a weak reference is no root`(type: String, isPlain: Bool) {
        #expect(SourceName.isPlain(type[...]) == isPlain)
    }
}
