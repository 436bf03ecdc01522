import Foundation

extension Notification.Name {
    static let sample = Notification.Name("sample")
    static let other = Notification.Name("other")
    static let third = Notification.Name("third")
}
