internal import Foundation
internal import Synchronization

/// The names of types of messages, each asked for once, so that the center finds them by identity.
///
/// Posts read them, so there is no lock: entries are pushed to the front of their chain, and are never freed, as types
/// are not.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum MessageNames {
    private final class Entry: Sendable {
        let type: ObjectIdentifier
        let name: Notification.Name
        /// The address of the next entry in the chain; 0 for none.
        let next: UInt

        init(type: ObjectIdentifier, name: Notification.Name, next: UInt) {
            self.type = type
            self.name = name
            self.next = next
        }
    }

    private static let chainBits = 7

    // SAFETY: never changes; each chain's first entry is atomic.
    nonisolated(unsafe) private static let chains = {
        let chains = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: 1 << chainBits)
        for index in 0..<(1 << chainBits) { unsafe (chains + index).initialize(to: Atomic(0)) }
        return unsafe chains
    }()

    static func name<Message: NotificationCenter.AsyncMessage>(of type: Message.Type) -> Notification.Name {
        name(of: ObjectIdentifier(type)) { MessageBridge.name(of: type) }
    }

    static func name<Message: NotificationCenter.MainActorMessage>(of type: Message.Type) -> Notification.Name {
        name(of: ObjectIdentifier(type)) { MessageBridge.name(of: type) }
    }

    private static func name(of type: ObjectIdentifier, ask: () -> Notification.Name) -> Notification.Name {
        let hash = UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15
        let chain = unsafe chains + Int(truncatingIfNeeded: hash >> UInt64(64 - chainBits))
        var first = unsafe chain.pointee.load(ordering: .acquiring)
        if let name = find(type, from: first) { return name }
        let asked = ask()
        while true {
            if let name = find(type, from: first) { return name }
            // SAFETY: what this retains is kept by the chain, or given back below.
            let entry = unsafe Unmanaged.passRetained(Entry(type: type, name: asked, next: first))
            let (exchanged, original) = unsafe chain.pointee.compareExchange(
                expected: first, desired: UInt(bitPattern: entry.toOpaque()), ordering: .acquiringAndReleasing)
            if exchanged { return asked }
            unsafe entry.release()
            first = original
        }
    }

    private static func find(_ type: ObjectIdentifier, from first: UInt) -> Notification.Name? {
        var address = first
        // SAFETY: an address in a chain is that of an entry, which is never freed.
        while let known = unsafe UnsafeRawPointer(bitPattern: address) {
            let entry = unsafe Unmanaged<Entry>.fromOpaque(known).takeUnretainedValue()
            if entry.type == type { return entry.name }
            address = entry.next
        }
        return nil
    }
}
