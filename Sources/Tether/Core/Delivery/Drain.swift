internal import Synchronization

/// One scheduled run of a mailbox: it runs once, or is cancelled, or is dropped, which cancels it.
final class Drain: Sendable {
    /// Not held, because an operation queue or a scheduler that never runs its drain must not keep itself through it.
    /// Observers with something pending hold their mailbox, so one that has gone has nothing to deliver.
    private let mailbox: OwnerReference<Mailbox>?
    /// The same, held on a serial dispatch queue, which what waits there keeps anyway: otherwise each observer that came and
    /// went while the queue is blocked would leave a drain of its own.
    private let kept: Mailbox?
    let number: UInt64
    /// The actor that it runs on, held from when something waits for it.
    let actor: (any Actor)?
    private let isUsed = Atomic<Bool>(false)

    init(mailbox: Mailbox, number: UInt64, isKeeping: Bool = false, holding actor: (any Actor)? = nil) {
        self.actor = actor
        kept = isKeeping ? mailbox : nil
        self.mailbox = OwnerReference(mailbox)
        self.number = number
    }

    deinit { if use() { mailbox?.take()?.cancel(number) } }

    /// Delivers what is pending now, or the first of it, on the calling thread.
    func run(atMost limit: Int = .max) {
        guard use(), let mailbox = mailbox?.take() else { return }
        let number = number
        PostingThread.deliver {
            mailbox.drain(number, atMost: limit)
        } orAtExit: {
            mailbox.threadEnded(number)
        }
    }

    /// Drops what is pending now, and counts it.
    ///
    /// A drain that is running delivers no more than the delivery it is at.
    func cancel() {
        _ = use()
        mailbox?.take()?.cancel(number)
    }

    /// Leaves it to another one with the same number.
    func discard() { _ = use() }

    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}
