package import Foundation

extension Notification {
    /// The notification as it may be kept: without an object that is being deinitialised (X3).
    package var withoutEndingObject: Notification { hasEndingObject ? withoutObject : self }

    /// Whether its object is being deinitialised.
    ///
    /// The object is looked at in its place, where the layout of a notification is known, because to copy an `Any` costs as
    /// much as a post.
    @inline(__always)
    var hasEndingObject: Bool {
        // Not covered: the other Foundation's notification, whose layout is not known.
        guard let offset = Notification.offsetOfObject else { return hasEndingCopy }
        // SAFETY: an `Any?` is there; the pointer does not leave the closure.
        let isEnding: Bool? = unsafe withUnsafePointer(to: self) { place in
            let container = unsafe UnsafeRawPointer(place) + offset
            if unsafe Unwrapped.isNothing(at: container) { return false }
            // SAFETY: the notification holds the object.
            return unsafe Unwrapped.storedObject(at: container)?._withUnsafeGuaranteedRef { isBeingDeinitialised($0) }
        }
        return isEnding ?? hasEndingCopy
    }

    /// Whether it is a name alone: has neither an object nor further information.
    @inline(__always)
    var isBare: Bool {
        // Not covered: the object of the other Foundation's notification, whose layout is not known.
        guard let offset = Notification.offsetOfObject else { return object == nil && userInfo == nil }
        // SAFETY: an `Any?` is there; the pointer does not leave the closure.
        return unsafe withUnsafePointer(to: self) {
            unsafe Unwrapped.isNothing(at: UnsafeRawPointer($0) + offset)
        } && userInfo == nil
    }

    private static let offsetOfObject = MemoryLayout<Notification>.offset(of: \.object)

    @inline(never)
    private var hasEndingCopy: Bool {
        if let object, case .object(let instance) = Unwrapped(object) { isBeingDeinitialised(instance) } else { false }
    }

    var withoutObject: Notification { Notification(name: name, object: nil, userInfo: userInfo) }
}
