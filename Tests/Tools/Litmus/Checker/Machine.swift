/// A memory model, and the library's code for such machines.
enum Machine: String, CaseIterable {
    case sequential = "SC"
    case x86 = "x86"
    case x86WithoutMembarrier = "x86 -mb"
    case arm = "ARM"
    case armRCpc = "ARM RCpc"
    case language = "RC11"
    case languageWithoutMembarrier = "RC11 -mb"
    case languageOnARM = "RC11 ARM"

    var model: Model {
        switch self {
        case .sequential: .sequentialConsistency
        case .x86, .x86WithoutMembarrier: .totalStoreOrder
        case .arm: .arm
        case .armRCpc: .armRCpc
        case .language, .languageWithoutMembarrier, .languageOnARM: .language
        }
    }

    /// The fence between a posting thread's hazard pointer and its later loads.
    var fence: Fence {
        switch self {
        case .sequential, .x86, .language: .ofWaiters
        case .x86WithoutMembarrier, .languageWithoutMembarrier: .ofPosters
        case .arm, .armRCpc, .languageOnARM: .none
        }
    }

    enum Fence {
        /// The waiting thread fences all threads (`membarrier`).
        case ofWaiters
        /// The posting thread fences itself.
        case ofPosters
        /// ARM64: the sequentially consistent load of the awaited word stays behind the releasing
        /// store of the hazard pointer.
        case none
    }
}

extension Set<Machine> {
    static let all = Set(Machine.allCases)
    static let x86: Self = [.x86, .x86WithoutMembarrier]
    static let arm: Self = [.arm, .armRCpc]
    static let language: Self = [.language, .languageWithoutMembarrier, .languageOnARM]
    static let weak = arm.union(language)
    static let x86AndLanguage = x86.union(language)
}
