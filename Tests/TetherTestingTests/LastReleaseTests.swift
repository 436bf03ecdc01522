import Dispatch
import Foundation
import Testing
import Tether

@testable import TetherTesting

/// Objects that the main actor releases while another thread looks for leaks. Registrations are an
/// exception: a search retains the registration, and may release its captures (R8).
@Suite struct LastReleaseTests {
    /// The ends of objects, by whether each came on the main queue.
    final class Ends: Sendable {
        private let counts = Locked((all: 0, elsewhere: 0))

        private static let key: DispatchSpecificKey<Bool> = {
            let key = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: key, value: true)
            return key
        }()

        init() { _ = Ends.key }

        func add() {
            let isOnMain = DispatchQueue.getSpecific(key: Ends.key) == true
            counts.withLock { $0 = ($0.all + 1, $0.elsewhere + (isOnMain ? 0 : 1)) }
        }

        var all: Int { counts.withLock(\.all) }
        var elsewhere: Int { counts.withLock(\.elsewhere) }
    }

    @MainActor final class Model {
        private let ends: Ends

        init(_ ends: Ends) { self.ends = ends }

        deinit { ends.add() }
    }

    /// The part of the verified scope that registers the model.
    nonisolated enum Role: CaseIterable {
        case tracked, owner

        /// The objects that the main actor retains then.
        @MainActor func take(_ model: Model, _ center: ObserverCenter) -> Any {
            switch self {
            case .tracked: return track(model)
            case .owner:
                center.observe(.modelDidChange, owner: model) { _, _ in }
                return model
            }
        }
    }

    /// The main actor releases models one after the other, while a body searches for models on
    /// another thread. Returns how many models were deallocated outside the main queue.
    private func endsElsewhere(_ role: Role, whileLooking look: (LeakTracker) async -> Void) async
        -> Int
    {
        let (center, ends, rounds) = (ObserverCenter(), Ends(), 1000)
        for round in 0..<rounds {
            let (scope, keep) = (LeakTracker(), Keep())
            await MainActor.run { keep.add(scope.adopt { role.take(Model(ends), center) }) }
            DispatchQueue.main.async {
                // Not always at the same moment of the look.
                for _ in 0..<(round % 64) * 8 { _ = keep.isEmpty }
                keep.drop()
            }
            await look(scope)
        }
        while ends.all < rounds { await MainActor.run {} }
        return ends.elsewhere
    }

    /// The search of all memory retains nothing. It takes longer than all else, so it is cut.
    private func verify(_ scope: LeakTracker, within limit: Duration) async {
        _ = await scope.verify(
            .init(deliveryWait: limit, releaseWait: limit, holderSearch: .milliseconds(10)))
    }

    @Test(arguments: Role.allCases)
    func `L3 R8 a verification never releases the last reference to an object`(
        _ role: Role
    ) async {
        #expect(await endsElsewhere(role) { await verify($0, within: .seconds(300)) } == 0)
    }

    @Test(arguments: Role.allCases)
    func `L3 R8 a search for the reason never releases the last reference to an object`(
        _ role: Role
    ) async {
        #expect(await endsElsewhere(role) { await verify($0, within: .zero) } == 0)
    }
}
