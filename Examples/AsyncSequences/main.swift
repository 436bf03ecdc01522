// Notifications and messages in a `for await` loop.
//
// Observation begins with the call, so what is posted before the loop is not missed. The loop ends
// by itself: with the owner, the sender or the center, or when its task is cancelled.
//
// Prints: alarm: three values
// Prints: the session's loop ended after 3 values
// Prints: the cancelled task's loop ended
// Prints: alarm: battery is empty
// Prints: the sensor is gone
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

    // A loop as long as the session: it is waiting when the session ends.
    var session: Session? = Session()
    let loop = Task { [notes = center.notifications(named: .measured, owner: session!)] in
        var count = 0
        for await _ in notes {
            count += 1
            if count == 3 { center.post(Alarm(text: "three values")) }
        }
        return count
    }

    // The newest two notifications of a loop that reads late, and an alarm that the loop sends. The
    // observation ends with the loop.
    let newest = center.notifications(named: .measured, buffering: .newest(2))
    let alarms = center.messages(for: .type(Alarm.self))
    sensor?.measure(1...3, on: center)
    for await alarm in alarms {
        print("alarm: \(alarm.text)")
        break
    }
    session = nil
    print("the session's loop ended after \(await loop.value) values")

    // A task that is cancelled, here before it begins.
    let cancelled = Task { [notes = center.notifications(named: .measured)] in
        for await _ in notes {}
        print("the cancelled task's loop ended")
    }
    cancelled.cancel()
    await cancelled.value

    // Messages about one sensor end with it, after those that were posted before.
    let last = center.messages(of: sensor!, for: .type(Alarm.self))
    center.post(Alarm(text: "battery is empty"), subject: sensor!)
    sensor = nil
    for await alarm in last { print("alarm: \(alarm.text)") }
    print("the sensor is gone")

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
