/// What operations are performed on: the model, or the library.
protocol World: AnyObject {
    func makeObject(_ id: Int, at place: Int)
    func dropObject(at place: Int)

    /// Registers an observer, tells the player where its token goes, and puts it there.
    func observe(_ observation: Observation, id: Int)
    func dropToken(_ token: Int)
    func stop(_ token: Int)
    func isActive(_ token: Int) -> Bool

    func stopAll(_ object: Int)
    func remove(center: Int, name: Int?, sender: Int?, owner: Int?)
    func removeToken(center: Int, token: Int, form: Int, name: Int?, sender: ModelOperation.Sender)
    func removeObject(center: Int, owner: Int, form: Int, name: Int?, sender: ModelOperation.Sender)

    func post(center: Int, name: Int, sender: ModelOperation.Sender, number: Int, form: ModelOperation.PostForm)
    func enqueue(
        center: Int, name: Int, sender: ModelOperation.Sender, number: Int, style: ModelOperation.Style,
        mask: ModelOperation.Mask)
    func dequeue(center: Int, name: Int, sender: ModelOperation.Sender, mask: ModelOperation.Mask)
    func dequeueExactly(center: Int, name: Int, sender: ModelOperation.Sender, number: Int)
    func flush(_ center: Int)
    func renewQueue(_ center: Int)
    func renewCenter(_ center: Int)

    func mute(token: Int, keepingNewest: Bool)
    func unmute(_ token: Int)
    func muteAll(object: Int, keepingNewest: Bool)
    func unmuteAll(_ object: Int)
    func bound(token: Int, to backlog: ModelOperation.Backlog)
    func redirect(token: Int, scheduler: Int?)

    func makeSequence(_ asked: SequenceObservation, id: Int)
    func take(_ sequence: Int)
    func runTasks(_ sequence: Int)
    func cancelTask(_ sequence: Int)
    func dropSequence(_ sequence: Int)
    func leaveSequence(_ sequence: Int)

    func run(_ scheduler: Int)
    func runAll(_ scheduler: Int)
    func dropJobs(_ scheduler: Int)
    func purge()

    /// A thread of its own begins, or is ended by a handler.
    func threadBegins()
    func threadEnds()

    func picture(ofCenter center: Int) -> CenterPicture
    func picture(ofToken token: Int) -> TokenPicture
    func attachedCount(to object: Int) -> Int
}
