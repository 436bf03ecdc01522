/// The results that a machine, or a language, allows.
enum Model: String, CaseIterable {
    /// Each location by itself. No machine is as weak. A result that is impossible even here does
    /// not depend on memory orders.
    case coherence
    /// One step after the other, of all threads.
    case sequentialConsistency
    /// x86: each thread has a buffer. Stores leave the buffer for the memory later, in order.
    case totalStoreOrder
    /// ARMv8 whose acquiring loads are `LDAR`.
    case arm
    /// ARMv8.3 and later. An acquiring load is `LDAPR`, which does not wait for an earlier
    /// store-release.
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
    /// All accesses of all threads have one order. Each read finds the last write.
    var isSequentiallyConsistent: Bool {
        programOrder.union(readsFrom, coherence, fromReads).isAcyclic
    }
}
