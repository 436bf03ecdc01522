#if !canImport(ObjectiveC)

internal import COwnerLifetime

/// A reference to an object of whatever class: here, where all are Swift's, an unowned one.
typealias OwnerReference = UnownedReference

/// Whether an object's last strong reference has gone, so that it must not be kept (X3).
func isBeingDeinitialised(_ object: AnyObject) -> Bool {
    // SAFETY: the caller holds the object's memory for the call.
    unsafe tether_has_ended(Unmanaged.passUnretained(object).toOpaque())
}

#endif
