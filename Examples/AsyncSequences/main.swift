// Notifications and messages in a `for await` loop.
//
// Observation begins with the call, so posts before the loop are not missed. The loop ends with the
// owner, the sender or the center, or when its task is cancelled.
//
// Prints: alarm: three values
// Prints: the session's loop ended after 3 values
// Prints: the cancelled task's loop ended
// Prints: alarm: battery is empty
// Prints: the messages about the sensor ended
// Prints: among the newest: 2
// Prints: among the newest: 3

import Foundation
import Tether

extension Notification.Name {
    static let measured = Notification.Name("measured")
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
struct Alarm: NotificationCenter.AsyncMessage {
    typealias Subject = Sensor
    let text: String
}

final class Sensor: Sendable {
    func measure(_ range: ClosedRange<Int>, on center: ObserverCenter) {
        for value in range { center.post(name: .measured, object: nil, userInfo: ["value": value]) }
    }
}

final class Session: Sendable {}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor func run() async {
    let center = ObserverCenter()
    var sensor: Sensor? = Sensor()

    // This loop waits for a value when its owner, the session, is deallocated.
    var session: Session? = Session()
    let loop = Task { [notes = center.notifications(named: .measured, owner: session!)] in
        var count = 0
        for await _ in notes {
            count += 1
            if count == 3 { center.post(Alarm(text: "three values")) }
        }
        return count
    }

    // This loop reads late, and gets the newest two notifications only.
    let newest = center.notifications(named: .measured, buffering: .newest(2))
    let alarms = center.messages(for: .type(Alarm.self))
    sensor?.measure(1...3, on: center)
    for await alarm in alarms {
        print("alarm: \(alarm.text)")
        break
    }
    session = nil
    print("the session's loop ended after \(await loop.value) values")

    // This loop's task is cancelled, here before it begins.
    let cancelled = Task { [notes = center.notifications(named: .measured)] in
        for await _ in notes {}
        print("the cancelled task's loop ended")
    }
    cancelled.cancel()
    await cancelled.value

    // Messages about a sensor end with the sensor, after its posted messages were read.
    let last = center.messages(of: sensor!, for: .type(Alarm.self))
    center.post(Alarm(text: "battery is empty"), subject: sensor!)
    sensor = nil
    for await alarm in last { print("alarm: \(alarm.text)") }
    print("the messages about the sensor ended")

    guard center.audit().map(\.pending) == [2] else {
        fatalError("Expected one observation:\n\(center.audit())")
    }
    for await note in newest.prefix(2) {
        print("among the newest: \(note.userInfo?["value"] ?? "nothing")")
    }
}

if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    await run()
} else {
    print("Foundation has typed messages from macOS 26 on.")
}
