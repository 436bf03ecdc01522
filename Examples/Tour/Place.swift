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

/// The name of the queue or thread that runs a handler.
enum Place {
    private static let key = DispatchSpecificKey<String>()

    static func name(_ queue: DispatchQueue, _ name: String) {
        queue.setSpecific(key: key, value: name)
    }

    /// Names the calling thread, in its dictionary. On Linux a `Thread.name` that is set while the
    /// thread starts is lost.
    static func nameThread(_ name: String) { Thread.current.threadDictionary["place"] = name }

    static var current: String {
        if let queue = DispatchQueue.getSpecific(key: key) ?? OperationQueue.current?.name {
            return "\(queue) queue"
        }
        return Thread.current.threadDictionary["place"] as? String ?? "a thread without a name"
    }
}
