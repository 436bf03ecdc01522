/// What a machine, or a language, lets threads see of each other.
enum Model: String, CaseIterable {
    /// Each location by itself; no machine is as weak. What cannot be even here is no matter of
    /// order.
    case coherence
    /// One step after the other, whichever thread's.
    case sequentialConsistency
    /// x86: each thread has a buffer from which its stores reach the memory later, in order.
    case totalStoreOrder
    /// ARMv8 whose acquiring loads are `LDAR`.
    case arm
    /// ARMv8.3 and later, whose acquiring loads are `LDAPR`, which does not wait for a
    /// store-release before it.
    case armRCpc
    /// The memory model of C++ and Swift, as mended by Lahav, Vafeiadis, Kang, Hur and Dreyer in
    /// 2017 (RC11).
    case language

    func allows(_ execution: Execution) -> Bool {
        switch self {
        case .coherence: true
        case .sequentialConsistency: execution.isSequentiallyConsistent
        case .totalStoreOrder: execution.isAllowedByTotalStoreOrder
        case .arm: execution.isAllowedByARM(hasRCpc: false)
        case .armRCpc: execution.isAllowedByARM(hasRCpc: true)
        case .language: execution.isAllowedByLanguage
        }
    }
}

extension Execution {
    /// All steps of all threads have one order, in which each read finds the write before it.
    var isSequentiallyConsistent: Bool {
        programOrder.union(readsFrom, coherence, fromReads).isAcyclic
    }
}
