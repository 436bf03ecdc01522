/// What a thread tells the others while it posts: its pin, its announcements, and its look at whether anyone waits.
///
/// Most protocols have it as a part. It stands for `Pin` and `PostingThread` in `Threads`,
/// and for the attention word and the places in `COwnerLifetime/ThreadRecord.c`.
struct Posting {
    let machine: Machine

    /// 1: a thread's record is in the list.
    let newest = Location("newest", initially: 1)
    let center = Location("pin.center")
    let epoch = Location("pin.epoch")
    let registration = Location("pin.registration")
    let attention: Location
    let waitedFor = Location("waited_for")

    var centerStore = Order.sequentiallyConsistent
    var epochStore = Order.releasing
    var epochLoad = Order.acquiring
    /// `Atomic.announce(_:)`.
    var announcementStore: Order
    var attentionLoad = Order.sequentiallyConsistent
    /// Whether the fences are made: `false` is a system that refuses them, unnoticed, or a library that leaves them out.
    var isFenced = true

    init(on machine: Machine) {
        self.machine = machine
        attention = Location("attention", initially: machine.fence == .ofPosters ? 1 : 0)
        announcementStore = machine.fence == .none ? .sequentiallyConsistent : .releasing
    }

    // MARK: The thread that posts

    /// `PostingThread.pin(center:epoch:)`.
    func begin(epoch: Value) {
        self.epoch.store(epoch, epochStore)
        center.store(1, centerStore)
    }

    /// `PostingThread.announce(_:after:at:)`.
    func announce() {
        registration.store(1, announcementStore)
        lookForWaiters()
    }

    /// `PostingThread.unpin(_:)`.
    func end() {
        registration.store(0, announcementStore)
        center.store(0, announcementStore)
        lookForWaiters()
    }

    /// `tether_needs_attention()`, and, if so, `PostingThread.attend(after:)` and `tether_is_waited_for`.
    private func lookForWaiters() {
        signalFence()
        guard attention.load(attentionLoad) != 0 else { return note("tells", 0) }
        let postersFence = machine.fence == .ofPosters
        if postersFence, isFenced { fence(.sequentiallyConsistent) }
        guard attention.load(attentionLoad) > (postersFence ? 1 : 0) else { return note("tells", 0) }
        note("tells", waitedFor.load(.relaxed))
    }

    // MARK: Who waits for others

    /// `tether_begin_waiting`
    func beginWaiting() {
        waitedFor.store(1, .sequentiallyConsistent)
        attention.wrappingAdd(1, .sequentiallyConsistent)
    }

    /// `PostingThread.fenceOthers()`, `tether_fence_all_threads`
    func fenceOthers() {
        guard isFenced else { return }
        if machine.fence == .ofWaiters { fenceAllThreads() } else { fence(.sequentiallyConsistent) }
    }

    /// `PostingThread.forEachPin(_:)`, at one pin of one thread: the center that it is in use for, or 0.
    func visit() -> Value {
        _ = newest.load(.sequentiallyConsistent)
        return center.load(.sequentiallyConsistent)
    }
}
