import Foundation
import Tether

extension Benchmark {
    /// The storage of older designs, each as small as possible, at several sizes. The rows show the
    /// benefit of an index by name.
    static let storages = [1, 100, 10_000].flatMap { size in
        ([ScannedArray.self, LinkedList.self, DictionaryOfArrays.self]
            as [any ReferenceStorage.Type]).flatMap { type in
                [post(among: size, type), addAndRemove(among: size, type)]
            }
    }

    private static func post(among size: Int, _ type: any ReferenceStorage.Type) -> Benchmark {
        Benchmark("post among n names, \(type)", size: "\(size)", reference: "\(type)", goal: nil) {
            let (center, tokens, storage) = filled(size, type)
            let last = Notification.Name("name \(size - 1)")
            let notification = Notification(name: last)
            return .timed(
                Subject(count: 20_000, keeping: tokens) {
                    for _ in 0..<$0 { center.post(notification) }
                },
                Subject(count: 20_000 / slowness(size, type)) {
                    for _ in 0..<$0 { storage.post(last.rawValue, notification) }
                })
        }
    }

    private static func addAndRemove(among size: Int, _ type: any ReferenceStorage.Type)
        -> Benchmark
    {
        Benchmark(
            "add + remove among n names, \(type)", size: "\(size)", reference: "\(type)", goal: nil
        ) {
            let (center, tokens, storage) = filled(size, type)
            let last = Notification.Name("name \(size - 1)")
            return .timed(
                Subject(count: 2000, keeping: tokens) {
                    for _ in 0..<$0 { center.observe(last) { _ in }.cancel() }
                },
                Subject(count: max(2, 2000 / slowness(size, type))) {
                    for _ in 0..<$0 { storage.remove(storage.add(last.rawValue) { _ in }) }
                })
        }
    }

    private static func filled(
        _ size: Int, _ type: any ReferenceStorage.Type
    ) -> (ObserverCenter, [NotificationObserver], any ReferenceStorage) {
        let (center, storage) = (ObserverCenter(), type.init())
        for number in 0..<size { _ = storage.add("name \(number)") { _ in } }
        return (
            center, (0..<size).map { center.observe(Notification.Name("name \($0)")) { _ in } },
            storage
        )
    }

    /// Roughly how many times slower than an index a storage is. Its rounds are shorter by the
    /// factor.
    private static func slowness(_ size: Int, _ type: any ReferenceStorage.Type) -> Int {
        type == DictionaryOfArrays.self ? 1 : max(1, min(1000, size / 10))
    }
}
