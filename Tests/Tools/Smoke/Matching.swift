import Foundation
import Tether

/// A class whose instances are all equal.
private final class Equal: Thing, Hashable, @unchecked Sendable {
    static func == (one: Equal, other: Equal) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

extension Smoke {
    mutating func matching() {
        let (center, log, sender, stranger) = (
            ObserverCenter(), Log(), Holder(Equal()), Holder(Equal())
        )
        var tokens = [center.observe(.smoke, from: sender.held) { _ in log.add("name, sender") }]
        tokens.append(center.observe(.smoke) { _ in log.add("name") })
        tokens.append(center.observe(nil, from: sender.held) { _ in log.add("sender") })
        tokens.append(center.observe(nil) { _ in log.add("all") })
        func reached(_ name: Notification.Name, _ object: Any?) -> [String] {
            let before = log.all.count
            center.post(name: name, object: object)
            return Array(log.all.dropFirst(before))
        }
        expect(
            "M1, M3", "all four kinds", reached(.smoke, sender.held),
            is: ["name, sender", "name", "sender", "all"])
        expect("M1", "another name", reached(.other, sender.held), is: ["sender", "all"])
        expect("M2, M4", "another sender", reached(.smoke, stranger.held), is: ["name", "all"])
        expect("M2, M5", "no sender", reached(.smoke, nil), is: ["name", "all"])
        tokens[1].cancel()
        tokens.append(center.observe(.smoke) { _ in log.add("late") })
        expect(
            "M3", "after removal", reached(.smoke, sender.held),
            is: ["name, sender", "sender", "all", "late"])

        tokens.append(
            center.addObserver(forName: .smoke, object: "text", queue: nil) { _ in log.add("text") }
        )
        let text = ["te", "xt"].joined()
        expect("M4", "an equal value", reached(.smoke, text), is: ["all", "late", "text"])
        expect("M4", "another value", reached(.smoke, "other"), is: ["all", "late"])
        expect(
            "M4", "a value of another type", reached(.smoke, Substring(text)), is: ["all", "late"])
        sender.letGo()
        expect(
            "M5", "the end of a sender", tokens.map(\.isActive),
            is: [false, false, false, true, true, true])
    }

    /// Between the library and the program, because an optimiser could give each of the two a
    /// center.
    mutating func defaultCenter() {
        let log = Log()
        let token = ObserverCenter.default.observe(.smoke) { _ in log.add("called") }
        PostingQueue.current.enqueue(Notification(name: .smoke), postingStyle: .now)
        expect("M8", "a post of the library's on the default center", log.all, is: ["called"])
        let centers = ObserverCenter.default.audit().map(\.center)
        expect("M8", "the default center's name", centers, is: ["ObserverCenter.default"])
        token.cancel()
    }

    mutating func endingSenders() {
        let (center, log) = (ObserverCenter(), Log())
        let sender = Holder(
            Ending {
                center.post(name: .smoke, object: $0)
                log.add("deinit")
            })
        let token = center.observe(.smoke, from: sender.held) { _ in log.add("called") }
        sender.letGo()
        expect("M5", "a post in a sender's deinit", log.all, is: ["called", "deinit"])
        expect("M5", "the observer of that sender", token.isActive, is: false)
        for _ in 0..<100 { center.post(name: .smoke, object: Ending { _ in }) }
        expect("M5", "objects at its address", log.all.count, is: 2)
    }
}
