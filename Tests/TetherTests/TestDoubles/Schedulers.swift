import Tether

/// Runs each job at once, where it was asked for.
final class InlineScheduler: DeliveryScheduler {
    func schedule(_ job: @escaping @Sendable () -> Void) { job() }
}
