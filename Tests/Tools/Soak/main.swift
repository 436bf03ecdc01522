import Dispatch
import Foundation
import Synchronization
import Tether

// A million owners get observers and posts, and are released. The memory of the process must not
// grow after the first tenth.
//
//     Soak [NUMBER OF OWNERS]

extension Notification.Name { fileprivate static let tick = Notification.Name("Soak.tick") }

private final class Source: Sendable {}
private class Owner {}
private final class Derived: Owner {}
private final class Pair<First, Second>: Owner {}
private final class Object: NSObject {}
private actor Worker {}

/// The number of deliveries, and of ended owners.
private let delivered = Atomic<Int>(0)
private let ended = Atomic<Int>(0)

/// Captured by a handler, and released at the observer's end.
private final class Capture: Sendable {
    func count() { delivered.wrappingAdd(1, ordering: .relaxed) }
    deinit { ended.wrappingAdd(1, ordering: .relaxed) }
}

/// Foundation's center, which reports the removal of an observer: after the owner's end, on a queue
/// (F2). Without a wait for the removal, a queue without processor time would look like growing
/// memory.
private final class TellingCenter: NotifyingCenter {
    struct Registration: NotifyingRegistration {
        let registration: any NotifyingRegistration
        let removed: DispatchSemaphore

        func cancel() {
            registration.cancel()
            removed.signal()
        }
    }

    let center = NotificationCenter()
    let removed = DispatchSemaphore(value: 0)

    func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        Registration(
            registration: center.register(name: name, sender: sender, handler: handler),
            removed: removed)
    }
}

/// The process's peak of memory so far, in KiB.
private var peakMemory: Int {
    var usage = rusage()
    #if canImport(Darwin)
    unsafe getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss / 1024
    #else
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss
    #endif
}

private struct Soak {
    let center = ObserverCenter()
    let foundation = TellingCenter()
    let queue = DispatchQueue(label: "Soak")

    /// The life of an owner, of one of eight kinds. Its posts are delivered before the end, or
    /// dropped on the main queue.
    func live(_ number: Int) {
        let capture = Capture()
        switch number % 8 {
        case 0: live(Owner(), capture)
        case 1: live(Derived(), capture)
        case 2: live(Pair<Int, String>(), capture)
        case 3: live(Object(), capture)
        case 4: live(Worker(), capture)
        case 5:
            let (owner, source) = (Owner(), Source())
            center.observe(
                .tick, from: source, owner: owner, on: .dispatchQueue(queue), key: number % 3
            ) { _, _ in
                capture.count()
            }
            center.post(name: .tick, object: source)
            queue.sync {}
            withExtendedLifetime(owner) {}
        case 6:
            observeFoundation(capture)
            guard foundation.removed.wait(timeout: .now() + 60) == .success else {
                print(
                    "Owner \(number) ended, and its observer was not taken off Foundation's center within a minute."
                )
                exit(1)
            }
        default:
            let owner = Owner()
            center.observe(nil, owner: owner, once: true) { _, _ in capture.count() }
            center.observe(.tick, owner: owner, on: .main) { _, _ in capture.count() }
            center.post(name: .tick, object: nil)
            withExtendedLifetime(owner) {}
        }
    }

    private func observeFoundation(_ capture: Capture) {
        let (owner, source) = (Owner(), Source())
        foundation.observe(.tick, from: source, owner: owner) { _, _ in capture.count() }
        foundation.center.post(name: .tick, object: source)
        withExtendedLifetime(owner) {}
    }

    private func live(_ owner: some AnyObject, _ capture: Capture) {
        center.observe(.tick, owner: owner) { _, _ in capture.count() }
        center.post(name: .tick, object: nil)
        withExtendedLifetime(owner) {}
    }
}

private let arguments = CommandLine.arguments.dropFirst()
guard arguments.count <= 1, let owners = arguments.first.map({ Int($0) }) ?? 1_000_000,
    owners >= 1000
else {
    print("Soak: give the number of owners, 1000 or more, or nothing for a million.")
    exit(1)
}

private let begin = Date()

/// Shows on a terminal, and nowhere else, how long the rest may take; nothing for `nil`.
private func show(_ done: Int?) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    let text = done.map { done in
        "\(done) of \(owners) owners, \(Int(-begin.timeIntervalSinceNow / Double(done) * Double(owners - done))) s left"
    }
    FileHandle.standardError.write(Data("\u{1B}[2K\r\(text ?? "")\r".utf8))
}

private let soak = Soak()
private let tenth = owners / 10
private var afterWarmUp = 0
for number in 0..<tenth * 10 {
    soak.live(number)
    if (number + 1) % (tenth / 10) == 0 { show(number + 1) }
    if (number + 1) % tenth == 0 {
        show(nil)
        print(
            "\(number + 1) owners, \(ended.load(ordering: .relaxed)) captures gone, at most \(peakMemory) KiB"
        )
        if afterWarmUp == 0 { afterWarmUp = peakMemory }
    }
}

// If one kind of the eight lost the smallest block of the allocator, 32 bytes, 900,000 owners would
// lose 3.4 MiB. The limit leaves room for Dispatch: each of its threads keeps up to 1024 blocks,
// about 96 KiB, and a busy machine has more threads.
private let limit = 3 * 1024

private let growth = peakMemory - afterWarmUp
private let left = tenth * 10 - ended.load(ordering: .relaxed)
private let observers = soak.center.audit().count
print(
    "Grew by \(growth) KiB of \(limit) after the first tenth; \(left) captures and \(observers) observers are left."
)
exit(growth <= limit && left == 0 && observers == 0 ? 0 : 1)
