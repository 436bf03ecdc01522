import Foundation
import Synchronization
import Testing

@testable import Tether

/// Observers with a key: at most one observer for each key.
@Suite(.ownThread) struct KeyTests {
    private let center = ObserverCenter()

    @Test func `M7 M4 a key is equal to the content of its optionals and boxes`() {
        let keys: [any Hashable] = [
            1, Int?.some(1), Int??.some(.some(1)), AnyHashable(1), AnyHashable(Int?.some(1)),
        ]
        let tokens = keys.map { center.observe(.sample, key: $0) { _ in } }
        #expect(tokens.map(\.isActive) == [false, false, false, false, true])
        let none: [any Hashable] = [Int?.none, Int?.none, String?.none]
        let empty = none.map { center.observe(.sample, key: $0) { _ in } }
        #expect(empty.map(\.isActive) == [false, true, true])
    }

    private func keyed(_ core: CenterCore) -> PlainRegistration {
        PlainRegistration(
            center: core,
            details: Registration.Details(key: ObserverKey(1, at: CallSite(#fileID, #line))),
            site: RegistrationSite(file: #fileID, line: #line), handler: { _ in })
    }

    @Test func `M7 an observer that ended before its addition replaces no observer`() {
        let core = CenterCore()
        let (first, second) = (keyed(core), keyed(core))
        core.add(first, name: .sample, sender: nil)
        let isEnding = second.close()
        core.add(second, name: .sample, sender: nil)
        second.completeEnd()
        #expect(isEnding && !first.hasEnded && core.count == 1)
        first.end()
        #expect(core.isEmpty)
    }

    /// A post that reads two counts, or an odd one, waits for the end of the replacement.
    @Test func `M7 a replacement counts its beginning and its end for posts under way`() {
        let core = CenterCore()
        let registrations = [keyed(core), keyed(core)]
        let counts = registrations.map { registration in
            core.add(registration, name: .sample, sender: nil)
            return core.quickMatching.replacements.load(ordering: .acquiring)
        }
        #expect(counts == [2, 4])
        for registration in registrations { registration.end() }
        #expect(core.isEmpty)
    }

    @Test func `M7 R3 an observer that ends during its replacement ends once, and is in no audit`()
    {
        let core = CenterCore()
        let (first, second) = (keyed(core), keyed(core))
        core.add(first, name: .sample, sender: nil)
        #expect(Audit([Unowned(first)]).count == 1)
        // The first half of an end, whose second half comes after the replacement.
        let isEnding = first.close()
        #expect(isEnding && Audit([Unowned(first)]).isEmpty)
        core.add(second, name: .sample, sender: nil)
        first.completeEnd()
        #expect(core.registrations().map { $0.retained === second } == [true])
        second.end()
        #expect(core.isEmpty)
    }
}
