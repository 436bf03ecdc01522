// What Tether uses of Apple's module `Combine`, with its signatures there; and what programs do with it.

public protocol Cancellable { func cancel() }

public final class AnyCancellable: Cancellable, Hashable {
    private let body: () -> Void

    public init<Other: Cancellable>(_ other: Other) { body = other.cancel }

    public func cancel() { body() }

    public static func == (one: AnyCancellable, other: AnyCancellable) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Cancellable {
    public func store(in set: inout Set<AnyCancellable>) { set.insert(AnyCancellable(self)) }
}

public enum Subscribers {
    public struct Demand: Equatable, Sendable {
        public static let none = Demand()

        public static func += (demand: inout Demand, other: Demand) {}
        public static func -= (demand: inout Demand, other: Int) {}
        public static func > (demand: Demand, other: Int) -> Bool { false }
    }
}

public protocol CustomCombineIdentifierConvertible {}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
}

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    func receive<Receiver: Subscriber>(subscriber: Receiver)
    where Receiver.Input == Output, Receiver.Failure == Failure
}

extension Publisher where Failure == Never {
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable { fatalError() }
}
