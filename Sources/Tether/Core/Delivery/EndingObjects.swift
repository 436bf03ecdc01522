package import Foundation

// No object is stored for later during its deinitialisation (X3): neither as `object` nor as a
// value of `userInfo`.
extension Notification {
    /// The notification without objects that are being deinitialised.
    package var withoutEndingObject: Notification { scrubbed ?? self }

    /// Whether the object, or a value of `userInfo`, is being deinitialised.
    @inline(__always)
    var hasEnding: Bool {
        hasEndingObject || userInfo?.values.contains(where: Notification.isEnding) == true
    }

    /// The notification without objects that are being deinitialised; `nil` if there are none.
    @inline(__always)
    var scrubbed: Notification? {
        guard hasEnding else { return nil }
        return Notification(
            name: name, object: hasEndingObject ? nil : object,
            userInfo: userInfo?.filter { !Notification.isEnding($0.value) })
    }

    /// Whether the value has an object that is being deinitialised; see `isEnding(at:)`.
    static func isEnding(_ value: Any) -> Bool {
        // SAFETY: the pointer does not leave the closure.
        unsafe withUnsafePointer(to: value) { unsafe isEnding(at: $0) }
    }

    /// Whether the `Any` at an address has an object that is being deinitialised, perhaps in
    /// optionals, existentials or `AnyHashable`s.
    @inline(__always)
    private static func isEnding(at words: UnsafeRawPointer) -> Bool {
        // SAFETY: the caller's value is at the address, and retains the object.
        if let object = unsafe Unwrapped.storedObject(at: words) {
            return unsafe object._withUnsafeGuaranteedRef { isBeingDeinitialised($0) }
        }
        guard unsafe Unwrapped.mayBeWrapped(at: words) else { return false }
        return unsafe isEndingCopy(words.assumingMemoryBound(to: Any.self).pointee)
    }

    /// The object is examined in place if the layout of a notification is known, because copying an
    /// `Any` costs as much as a post.
    @inline(__always)
    private var hasEndingObject: Bool {
        guard let offset = Notification.offsetOfObject else {
            return object.map(Notification.isEndingCopy) ?? false
        }
        // SAFETY: an `Any?` is at the offset; the pointer does not leave the closure.
        return unsafe withUnsafePointer(to: self) { place in
            let container = unsafe UnsafeRawPointer(place) + offset
            if unsafe Unwrapped.isNothing(at: container) { return false }
            return unsafe Notification.isEnding(at: container)
        }
    }

    /// Whether the notification has neither an object nor a `userInfo`.
    @inline(__always)
    var hasNoPayload: Bool {
        guard let offset = Notification.offsetOfObject else {
            return object == nil && userInfo == nil
        }
        // SAFETY: an `Any?` is at the offset; the pointer does not leave the closure.
        return unsafe withUnsafePointer(to: self) {
            unsafe Unwrapped.isNothing(at: UnsafeRawPointer($0) + offset)
        } && userInfo == nil
    }

    private static let offsetOfObject = MemoryLayout<Notification>.offset(of: \.object)

    @inline(never)
    private static func isEndingCopy(_ value: Any) -> Bool {
        if case .object(let instance) = Unwrapped(value) {
            isBeingDeinitialised(instance)
        } else {
            false
        }
    }
}
