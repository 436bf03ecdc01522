/// The check for a second copy of Tether in the process (M8).
///
/// A program and a dynamic library that each link Tether have two libraries, each with its own
/// default center, lists of owners and audits. No symbol is shared, so the check asks the runtime
/// for the class of centers by its name. The runtime knows the classes of all copies, and answers
/// always with the same one. So exactly the other copies report.
enum OtherCopy {
    /// Reports another copy, at the first call. Called before Tether makes a center. Cost: one
    /// search of the runtime's types.
    static func reportOnce() { isReported }

    private static let isReported: Void = {
        guard let name = _mangledTypeName(ObserverCenter.self), let known = _typeByName(name),
            known != ObserverCenter.self
        else {
            return
        }
        printError(
            "Tether: this process has two copies of Tether, each with its own default center. Posts of "
                + "one copy do not reach observers of the other. Link the product TetherDynamic in "
                + "the program and in its dynamic libraries.")
    }()
}
