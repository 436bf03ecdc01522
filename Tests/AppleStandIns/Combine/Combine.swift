// The parts of Apple's module `Combine` for Tether and for programs with Tether, with Apple's
// signatures.

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

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
}

extension Publisher {
    public func handleEvents(receiveCancel: (() -> Void)? = nil) -> Publishers.HandleEvents<Self> {
        fatalError()
    }

    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { fatalError() }
}

extension Publisher where Failure == Never {
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable { fatalError() }
}

public enum Publishers {
    public struct HandleEvents<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
    }
}

public struct AnyPublisher<Output, Failure: Error>: Publisher {}

public struct Deferred<DeferredPublisher: Publisher>: Publisher {
    public typealias Output = DeferredPublisher.Output
    public typealias Failure = DeferredPublisher.Failure

    public init(createPublisher: @escaping () -> DeferredPublisher) {}
}

public final class PassthroughSubject<Output, Failure: Error>: Publisher {
    public init() {}

    public func send(_ input: Output) {}
}
