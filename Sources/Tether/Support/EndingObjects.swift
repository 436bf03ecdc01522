package import Foundation

// No object is stored for later during its deinitialisation (X3): neither as `object` nor as a value of `userInfo`.
extension Notification {
    package var withoutEndingObject: Notification { scrubbed ?? self }

    /// The notification without objects that are being deinitialised; `nil` if there are none.
    @inline(__always)
    var scrubbed: Notification? {
        guard hasEndingObject || userInfo?.values.contains(where: Notification.isEnding) == true else { return nil }
        return Notification(
            name: name, object: hasEndingObject ? nil : object,
            userInfo: userInfo?.filter { !Notification.isEnding($0.value) })
    }

    private static func isEnding(_ value: Any) -> Bool {
        Unwrapped.storedObject(in: value).map(isBeingDeinitialised) ?? false
    }

    /// The object is examined in place if the layout of a notification is known, because copying an `Any` costs as much
    /// as a post.
    @inline(__always)
    private var hasEndingObject: Bool {
        guard let offset = Notification.offsetOfObject else { return hasEndingCopy }
        // SAFETY: an `Any?` is at the offset; the pointer does not leave the closure.
        let isEnding: Bool? = unsafe withUnsafePointer(to: self) { place in
            let container = unsafe UnsafeRawPointer(place) + offset
            if unsafe Unwrapped.isNothing(at: container) { return false }
            // SAFETY: the notification retains the object.
            return unsafe Unwrapped.storedObject(at: container)?._withUnsafeGuaranteedRef { isBeingDeinitialised($0) }
        }
        return isEnding ?? hasEndingCopy
    }

    /// Whether the notification has neither an object nor a `userInfo`.
    @inline(__always)
    var isBare: Bool {
        guard let offset = Notification.offsetOfObject else { return object == nil && userInfo == nil }
        // SAFETY: an `Any?` is at the offset; the pointer does not leave the closure.
        return unsafe withUnsafePointer(to: self) {
            unsafe Unwrapped.isNothing(at: UnsafeRawPointer($0) + offset)
        } && userInfo == nil
    }

    private static let offsetOfObject = MemoryLayout<Notification>.offset(of: \.object)

    @inline(never)
    private var hasEndingCopy: Bool {
        if let object, case .object(let instance) = Unwrapped(object) { isBeingDeinitialised(instance) } else { false }
    }
}
