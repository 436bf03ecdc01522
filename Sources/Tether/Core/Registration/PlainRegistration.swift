internal import Foundation

/// A registration that calls its handler with the notification alone.
///
/// SAFETY: `handler` never changes.
final class PlainRegistration: Registration, @unchecked Sendable {
    let handler: @Sendable (Notification) -> Void

    init(
        center: CenterCore, details: Details? = nil, flags: UInt32 = 0, site: RegistrationSite,
        handler: @escaping @Sendable (Notification) -> Void
    ) {
        self.handler = handler
        super.init(center: center, details: details, flags: flags, site: site)
    }
}
