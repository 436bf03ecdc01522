import Foundation

// A program with two copies of Tether, each in a library, and classes whose objects both copies
// observe.
//
//     Host local|global PLUGIN PLUGIN

typealias Report = @convention(c) (UnsafePointer<CChar>) -> Void

nonisolated(unsafe) var log: [String] = []
nonisolated(unsafe) var failures = 0

let report: Report = { word in unsafe log.append(String(cString: word)) }

func expect(_ found: [String], _ expected: [String], _ what: String) {
    print("\(what): \(found.joined(separator: ", "))")
    guard found != expected else { return }
    print("FAILED, expected: \(expected.joined(separator: ", "))")
    failures += 1
}

/// The reports of a call.
func reports(_ body: () -> Void) -> [String] {
    log = []
    body()
    return log
}

final class Library {
    let handle: UnsafeMutableRawPointer

    init(_ path: String, _ flags: Int32) {
        guard let handle = unsafe dlopen(path, RTLD_NOW | flags) else {
            fatalError(unsafe String(cString: dlerror()))
        }
        unsafe self.handle = unsafe handle
    }

    func function<Function>(_ name: String, as type: Function.Type) -> Function {
        guard let address = unsafe dlsym(handle, name) else { fatalError("\(name) is missing") }
        return unsafe unsafeBitCast(address, to: type)
    }
}

struct Plugin {
    let library: Library

    func attach(_ object: AnyObject) {
        library.function(
            "plugin_attach", as: (@convention(c) (UnsafeRawPointer, Report) -> Void).self)(
                unsafe Unmanaged.passUnretained(object).toOpaque(), report)
    }
    func observe(_ object: AnyObject) {
        library.function(
            "plugin_observe", as: (@convention(c) (UnsafeRawPointer, Report) -> Void).self)(
                unsafe Unmanaged.passUnretained(object).toOpaque(), report)
    }
    func post(_ object: AnyObject) {
        library.function("plugin_post", as: (@convention(c) (UnsafeRawPointer) -> Void).self)(
            unsafe Unmanaged.passUnretained(object).toOpaque())
    }
    var count: Int { library.function("plugin_count", as: (@convention(c) () -> Int).self)() }
    var isExact: Bool {
        library.function("plugin_is_exact", as: (@convention(c) () -> Bool).self)()
    }
}

final class Owner {
    let atEnd: (Owner) -> Void
    init(atEnd: @escaping (Owner) -> Void = { _ in }) { self.atEnd = atEnd }
    deinit {
        unsafe report("deinit")
        atEnd(self)
    }
}

final class OtherOwner {
    deinit { unsafe report("deinit") }
}

// Flushed, so a crash does not lose printed lines.
unsafe setvbuf(stdout, nil, _IOLBF, 0)

let arguments = CommandLine.arguments
let scope = arguments[1] == "local" ? RTLD_LOCAL : RTLD_GLOBAL
let (a, b) = (
    Plugin(library: Library(arguments[2], scope)), Plugin(library: Library(arguments[3], scope))
)
expect(["\(a.isExact)", "\(b.isExact)"], ["true", "true"], "both see ends")

/// A plugin observes each object. Then the objects are released in order.
func lives<Object: AnyObject>(of plugins: [Plugin], _ make: () -> Object) -> [String] {
    var objects: [Object?] = plugins.map { plugin in
        let object = make()
        plugin.attach(object)
        return object
    }
    return reports { for index in objects.indices { objects[index] = nil } }
}

let pair = ["observer ended", "deinit"]
expect(lives(of: [a, b, a, b, a]) { Owner() }, pair + pair + pair + pair + pair, "the first began")
expect(lives(of: [b, a, b, a]) { OtherOwner() }, pair + pair + pair + pair, "the second began")

func both() {
    let owner = Owner()
    a.attach(owner)
    b.attach(owner)
}
expect(reports(both), ["observer ended", "observer ended", "deinit"], "an owner of both")

func sender() {
    let sender = Owner { sender in
        a.post(sender)
        b.post(sender)
    }
    a.observe(sender)
    b.observe(sender)
}
expect(
    reports(sender),
    [
        "deinit", "post delivered", "post delivered", "sender's observer ended",
        "sender's observer ended",
    ],
    "a sender of both")
expect(["\(a.count)", "\(b.count)"], ["0", "0"], "what is left")

exit(failures == 0 ? 0 : 1)
