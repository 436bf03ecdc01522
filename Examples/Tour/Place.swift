import Foundation

/// The queues of the tour.
struct Queues {
    let cache = DispatchQueue(label: "cache")
    let speller = OperationQueue()
    let suspended = OperationQueue()

    init() {
        Place.name(cache, "cache")
        Place.name(.main, "main")
        speller.name = "speller"
        speller.maxConcurrentOperationCount = 1
        suspended.name = "suspended"
        suspended.isSuspended = true
    }
}

/// Where a handler runs, by the names that the tour gave its queues and threads.
enum Place {
    private static let key = DispatchSpecificKey<String>()

    static func name(_ queue: DispatchQueue, _ name: String) {
        queue.setSpecific(key: key, value: name)
    }

    /// Names the calling thread, in its dictionary: on Linux `Thread.name` is lost while the thread
    /// is being started.
    static func nameThread(_ name: String) { Thread.current.threadDictionary["place"] = name }

    static var current: String {
        if let queue = DispatchQueue.getSpecific(key: key) ?? OperationQueue.current?.name {
            return "\(queue) queue"
        }
        return Thread.current.threadDictionary["place"] as? String ?? "a thread without a name"
    }
}
