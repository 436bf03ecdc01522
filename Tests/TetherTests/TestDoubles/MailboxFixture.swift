import Foundation

@testable import Tether

/// A registration that no center has, with an inbox on a mailbox.
struct MailboxFixture {
    let drains = ManualDrains()
    let mailbox: Mailbox
    let log = Log<Int>()
    let center = ObserverCenter()
    let registration: Registration
    let inbox: Inbox

    init(on shared: Mailbox? = nil, isOnce: Bool = false, _ body: @escaping @Sendable (Int) -> Void = { _ in }) {
        mailbox = shared ?? Mailbox(scheduler: drains)
        let route = Route(target: .poster, mailbox: mailbox)
        registration = PlainRegistration(
            center: center.core, flags: isOnce ? Registration.State.once : 0,
            site: RegistrationSite(file: #fileID, line: #line)
        ) { [log] notification in
            log.add(notification.number)
            body(notification.number)
        }
        inbox = registration.makeInbox(route)
    }

    func post(_ number: Int) {
        registration.receive(Notification(name: .sample, object: nil, userInfo: ["number": number]))
    }
}
