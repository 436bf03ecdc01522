/// Jobs of the user's own scheduler.
struct CustomDrains: DrainScheduler {
    let scheduler: any DeliveryScheduler

    func schedule(_ drain: Drain) {
        let limit = scheduler is any SteppingScheduler ? 1 : Int.max
        scheduler.schedule { drain.run(atMost: limit) }
    }
}
