// The names that Foundation's NotificationQueue has for the same.

extension PostingQueue {
    /// The calling thread's queue: see `current`.
    public static var `default`: PostingQueue { current }

    /// Makes a queue that posts to a center on the calling thread: see `init(center:)`.
    /// - Parameter notificationCenter: The center to post to, which is held as long as the queue is.
    public convenience init(notificationCenter: ObserverCenter) { self.init(center: notificationCenter) }
}
