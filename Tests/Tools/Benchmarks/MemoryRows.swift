import CAllocations
import Foundation
import Tether

extension Benchmark {
    /// Live heap bytes per registration, the closure's context of 32 bytes included, counted by the
    /// allocator.
    static let memory = [
        Benchmark("bytes per registration", size: "\(registrations)", goal: 0.85) {
            let center = ObserverCenter()
            let (a, b) = (Plain(), Plain())
            return bytes {
                (0..<registrations).map { _ in
                    center.observe(.measured) { _ in withExtendedLifetime((a, b)) {} }
                }
            }
        },
        Benchmark("bytes per registration, attached", size: "\(registrations)", goal: 0.95) {
            let center = ObserverCenter()
            let (a, b, owner) = (Plain(), Plain(), Plain())
            return bytes {
                for _ in 0..<registrations {
                    center.observe(.measured, owner: owner) { _, _ in
                        withExtendedLifetime((a, b)) {}
                    }
                }
                return owner
            }
        },
        Benchmark("bytes per registration with a target", size: "\(registrations)", goal: 1.35) {
            let center = ObserverCenter()
            let (a, b) = (Plain(), Plain())
            let queue = DispatchQueue(label: "Benchmarks.memory")
            let target = DeliveryTarget.dispatchQueue(queue)
            return bytes {
                (0..<registrations).map { _ in
                    center.observe(.measured, on: target) { _ in withExtendedLifetime((a, b)) {} }
                }
            }
        },
        Benchmark("bytes of a center without posts", size: "\(centers)", goal: 11) {
            guard heap_bytes_in_use() > 0 else {
                return .unavailable("this allocator does not tell what is in use")
            }
            let foundation = inUse(each: centers) {
                (0..<centers).map { _ in NotificationCenter() }
            }
            let ours = inUse(each: centers) { (0..<centers).map { _ in ObserverCenter() } }
            return withExtendedLifetime((foundation.kept, ours.kept)) {
                .counted(ours.bytes, foundation.bytes, unit: "bytes")
            }
        },
        Benchmark(
            "bytes beside names that came and went", size: "1000, 20000", reference: "at first",
            goal: 1.5
        ) {
            guard heap_bytes_in_use() > 0 else {
                return .unavailable("this allocator does not tell what is in use")
            }
            let center = ObserverCenter()
            func observe(_ number: Int) -> [NotificationObserver] {
                let name = Notification.Name("a name that is not short, number \(number)")
                let tokens = (0..<2).map { _ in center.observe(name) { _ in } }
                for _ in 0..<2 { center.post(name: name, object: nil) }
                return tokens
            }
            let before = Int(heap_bytes_in_use())
            let staying = (0..<1000).map(observe)
            let first = Int(heap_bytes_in_use()) - before
            // All at once, as in an app that opens and closes a large document.
            do {
                let passing = (1000..<21_000).map(observe)
                withExtendedLifetime(passing) {}
            }
            let last = Int(heap_bytes_in_use()) - before
            return withExtendedLifetime(staying) {
                .counted(Double(last), Double(first), unit: "bytes")
            }
        },
    ]

    private static let registrations = 100_000
    private static let centers = 10_000

    private static func bytes(_ ours: () -> Any) -> Sides {
        guard heap_bytes_in_use() > 0 else {
            return .unavailable("this allocator does not tell what is in use")
        }
        let theirs = NotificationCenter()
        let (a, b) = (Plain(), Plain())
        // The first removal allocates the table of guards, once for a process.
        ObserverCenter().observe(.measured) { _ in }.cancel()
        let foundation = inUse {
            (0..<registrations).map { _ in
                theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in
                    withExtendedLifetime((a, b)) {}
                }
            }
        }
        // Foundation's observers stay meanwhile. Otherwise Tether's would be allocated in their
        // larger freed blocks.
        return withExtendedLifetime(foundation.kept) {
            .counted(inUse(ours).bytes, foundation.bytes, unit: "bytes")
        }
    }

    private static func inUse(
        each count: Int = registrations, _ body: () -> Any
    ) -> (bytes: Double, kept: Any) {
        let before = heap_bytes_in_use()
        let kept = body()
        let after = heap_bytes_in_use()
        return (Double(Int(after) - Int(before)) / Double(count), kept)
    }
}
