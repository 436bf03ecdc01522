/// Drains on an actor: one task at a time, which delivers all that is pending in order.
struct ActorDrains: DrainScheduler {
    let actor: any Actor

    func schedule(_ drain: Drain) {
        Task { [actor] in await ActorDrains.run(drain, on: actor) }
    }

    private static func run(_ drain: Drain, on actor: isolated any Actor) { drain.run() }
}
