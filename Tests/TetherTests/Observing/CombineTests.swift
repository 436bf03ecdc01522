#if canImport(Combine)

import Combine
import Foundation
import Testing
import Tether

/// Programs with Combine, which has no Linux form: typechecked over stand-ins.
@Suite struct CombineTests {
    @Test func `R1 M2 a publisher's subscription is an observer, and ends when it is cancelled`() {
        let (center, log, model) = (ObserverCenter(), Log<Int>(), Plain())
        var subscriptions: Set<AnyCancellable> = []
        center.publisher(for: .sample, object: model).sink { log.add($0.number) }.store(
            in: &subscriptions)
        center.post(name: .sample, object: model, userInfo: ["number": 1])
        center.post(.sample, number: 2)
        subscriptions = []
        center.post(name: .sample, object: model, userInfo: ["number": 3])
        #expect(log.entries == [1])
        #expect(center.audit().isEmpty)
    }

    @Test func `X3 a publisher leaves out an object that is being deinitialised`() {
        final class Model: Sendable {
            let center: ObserverCenter
            init(_ center: ObserverCenter) { self.center = center }
            deinit { center.post(name: .sample, object: self) }
        }
        let (center, log) = (ObserverCenter(), Log<Bool>())
        let subscription = center.publisher(for: .sample).sink { log.add($0.object == nil) }
        _ = Model(center)
        #expect(log.entries == [true])
        subscription.cancel()
    }

    @Test func `R1 a token is stored among subscriptions, and ends with them`() {
        let (center, log) = (ObserverCenter(), Log<Int>())
        var subscriptions: Set<AnyCancellable> = []
        center.observe(.sample) { log.add($0.number) }.store(in: &subscriptions)
        center.post(.sample, number: 1)
        subscriptions = []
        center.post(.sample, number: 2)
        #expect(log.entries == [1])
    }
}

#endif
