internal import Synchronization

/// One scheduled run of a mailbox: it runs once, or is cancelled, or is dropped, which cancels it.
final class Drain: Sendable {
    let mailbox: Mailbox
    private let number: UInt64
    private let isUsed = Atomic<Bool>(false)

    init(mailbox: Mailbox, number: UInt64) {
        self.mailbox = mailbox
        self.number = number
    }

    deinit { cancel() }

    /// Delivers what is pending now, on the calling thread.
    func run() {
        if use() { mailbox.drain(number) }
    }

    /// Drops what is pending now, and counts it.
    ///
    /// A drain that is running delivers no more than the delivery it is at.
    func cancel() {
        _ = use()
        mailbox.abandon(number)
    }

    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}
