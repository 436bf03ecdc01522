extension OwnerLifetime {
    /// Ends the observers of owners that have gone where that could not be seen as it happened
    /// ([O10](doc:Contract#O10)).
    ///
    /// There is nothing to do where `isExact` holds, and never a need: the sweep does the same, amortised over
    /// attachments. Complexity: O(owners of such classes). Any thread; captured values are released on it.
    public static func purge() { OwnerTable.shared.purge() }
}
