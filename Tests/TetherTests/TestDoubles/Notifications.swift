import Foundation
import Tether

extension Notification.Name {
    static let sample = Notification.Name("sample")
    static let other = Notification.Name("other")
    static let third = Notification.Name("third")
}

extension Notification {
    /// The number posted by `post(_:number:)`.
    var number: Int { userInfo?["number"] as? Int ?? -1 }
}

extension ObserverCenter {
    func post(_ name: Notification.Name, number: Int) {
        post(name: name, object: nil, userInfo: ["number": number])
    }

    func post(_ name: Notification.Name, numbers: some Sequence<Int>) {
        for number in numbers { post(name, number: number) }
    }
}
