internal import Dispatch
internal import Foundation
internal import Tether

/// The search for the holders of an object in all memory of the process (Linux, glibc).
///
/// The search begins at the object, and goes from held to holder until a root. All leaks of a scope
/// share one index of the memory (`MemoryIndex`).
///
/// A path is proved if each of its steps is: by a type, or by a known structure of libdispatch or
/// Foundation. The search takes the cheapest step first, and unproved steps are dear. If the types
/// prove as many references as the object's count has, the other words are no references.
///
/// Other threads run during the search. A word that changes is a word that was not found.
struct HolderSearch {
    private let places: MemoryPlaces
    private let deadline: DispatchTime
    private let visitLimit: Int
    /// The task that searches. Its frames have variables of the test, which may be over.
    private let ownTask = SwiftTasks.current

    /// `nil` where memory cannot be searched, and after the limit.
    /// - Parameter visits: the greatest number of holders on the way to a root.
    init?(limit: Duration, visits: Int = 20_000) {
        deadline = .after(limit)
        visitLimit = visits
        guard let index = MemoryIndex(limit: limit) else { return nil }
        places = MemoryPlaces(index)
    }

    private static let directLimit = 64
    private static let holderLimit = 16
    /// The longest retain cycle beside the object.
    private static let loopLimit = 32

    private var isOver: Bool { DispatchTime.now() >= deadline }

    // MARK: The result

    struct Result {
        /// The paths from roots, the surest first.
        var paths: [RootPath] = []
        /// The paths from proved holders to which nothing leads.
        var rootless: [RootPath] = []
        /// The number of strong references in holders and roots of known kinds.
        var known = 0
        /// Whether the limit ended the search, or the object is not one of the allocator's, as one
        /// in the data of an image.
        var isCut = false
    }

    private typealias Found = MemoryPlaces.Found
    private typealias Cost = MemoryPlaces.Cost

    /// The holders of an object.
    /// - Parameter count: the number of strong references to the object.
    func holders(of object: HiddenAddress, count: Int) -> Result {
        var result = Result()
        guard places.isChunk(object) else {
            result.isCut = true
            return result
        }
        let direct = places.found(leadingTo: object, isTarget: true)
            .sorted { $0.cost < $1.cost }
        let proved = direct.count { $0.edge.isProved }
        result.known = direct.count(where: HolderSearch.isKnown)
        var seen: Set<HiddenAddress> = []
        for found in direct.prefix(HolderSearch.directLimit) {
            if isOver {
                result.isCut = true
                break
            }
            if proved >= count, !found.edge.isProved { continue }
            switch found {
            case .root(let root, let edge, let cost):
                result.paths.append(
                    RootPath(root: root, edges: [edge], holders: [], cost: cost))
            case .holder(let holder, let kind, let edge, let cost):
                guard seen.insert(holder).inserted, seen.count <= HolderSearch.holderLimit else {
                    continue
                }
                if holder == object {
                    result.paths.append(
                        RootPath(root: .cycle, edges: [edge], holders: [], cost: cost))
                    continue
                }
                let step = Step(holder: holder, kind: kind, edge: edge, held: nil)
                guard let path = path(from: step, cost, to: object), isInUse(path) else { continue }
                if path.isRootless {
                    result.rootless.append(path)
                } else {
                    result.paths.append(path)
                }
            }
        }
        result.paths.sort { first, second in
            if first.isProved != second.isProved { return first.isProved }
            return first.cost < second.cost
        }
        return result
    }

    /// Whether no holder was freed since it was found, as the search's own memory is.
    private func isInUse(_ path: RootPath) -> Bool {
        path.holders.allSatisfy { places.isChunk($0.object) }
    }

    private static func isKnown(_ found: Found) -> Bool {
        if case .holder(_, .memory, _, _) = found { return false }
        return found.cost < Cost.unnamed
    }

    // MARK: One path

    /// A holder on the way from the object to a root.
    private struct Step {
        let holder: HiddenAddress
        let kind: MemoryPlaces.Kind
        let edge: MemoryPlaces.Edge
        /// The step to the held object; `nil` for the object in question.
        let held: Int?
    }

    private enum Entry {
        case step(Int)
        case root(MemoryPlaces.Root, MemoryPlaces.Edge?, held: Int)
    }

    /// The cheapest path from a root to a holder of the object. If nothing but a stack, or other
    /// memory with old words, leads to the holder, a path from the object itself, or from the nearest
    /// holder that is known by name, or from a retain cycle, or from the nearest object on the way.
    private func path(from first: Step, _ cost: Int, to object: HiddenAddress) -> RootPath? {
        var steps = [first]
        var queue = CostQueue<Entry>()
        var visited: Set<HiddenAddress> = []
        var cycle: RootPath?
        var loop: RootPath?
        var nearest: RootPath?
        var landmark: RootPath?
        queue.push(.step(0), cost)
        while let (entry, cost) = queue.pop() {
            switch entry {
            case .root(let root, let edge, let held):
                if !root.isSure, let known = cycle ?? landmark ?? loop { return known }
                return path(from: root, edge, steps, held, cost)
            case .step(let number):
                let step = steps[number]
                guard visited.insert(step.holder).inserted else { continue }
                if visited.count > visitLimit || visited.count % 16 == 0 && isOver {
                    nearest?.root = .unsearched
                    return cycle ?? loop ?? nearest
                }
                if step.kind.isLandmark, !step.kind.isTask {
                    // The queue of an operation says more than the operation alone.
                    let path = path(from: .living, nil, steps, number, cost)
                    if path.landmarkCount > (landmark?.landmarkCount ?? 0) { landmark = path }
                }
                if nearest == nil, case .object = step.kind {
                    let path = path(from: .nothing, nil, steps, number, cost)
                    if path.edges.allSatisfy(\.isProved) { nearest = path }
                }
                if let (root, more) = living(step) {
                    queue.push(.root(root, nil, held: number), cost + more)
                    continue
                }
                for found in places.found(leadingTo: step.holder) {
                    switch found {
                    case .root(let root, let edge, let more):
                        queue.push(.root(root, edge, held: number), cost + more)
                    case .holder(object, _, let edge, let more) where cycle == nil:
                        cycle = path(from: .cycle, edge, steps, number, cost + more)
                    case .holder(let holder, let kind, let edge, let more):
                        if holder == object { continue }
                        if visited.contains(holder) {
                            guard loop == nil, edge.isProved, isHeld(holder, behind: number, steps)
                            else { continue }
                            steps.append(Step(holder: holder, kind: kind, edge: edge, held: number))
                            let path = path(from: .loop, nil, steps, steps.count - 1, cost + more)
                            if path.edges.allSatisfy(\.isProved) { loop = path }
                            continue
                        }
                        if isLeftOver(kind, behind: step, steps) { continue }
                        steps.append(
                            Step(holder: holder, kind: kind, edge: edge, held: number))
                        queue.push(.step(steps.count - 1), cost + more)
                    }
                }
            }
        }
        return cycle ?? landmark ?? loop ?? nearest
    }

    /// Whether a holder is among the last steps on the way to the object, so that its step is a part
    /// of a retain cycle.
    private func isHeld(_ holder: HiddenAddress, behind last: Int, _ steps: [Step]) -> Bool {
        var next: Int? = last
        for _ in 0..<HolderSearch.loopLimit {
            guard let number = next else { return false }
            if steps[number].holder == holder { return true }
            next = steps[number].held
        }
        return false
    }

    /// Whether a block seems to hold another one, and is itself in no queue and no group. libdispatch
    /// links the waiting blocks of both, and keeps such links in blocks that it uses again.
    private func isLeftOver(
        _ kind: MemoryPlaces.Kind, behind step: Step, _ steps: [Step]
    ) -> Bool {
        guard case .dispatch("continuation") = step.kind, let held = step.held,
            case .dispatch("continuation") = steps[held].kind,
            case .dispatch(let name) = kind
        else { return false }
        return !DispatchObjects.linkingKinds.contains(name)
    }

    /// Whether a holder lives by itself: a task, or an observer of Tether.
    private func living(_ step: Step) -> (root: MemoryPlaces.Root, cost: Int)? {
        switch step.kind {
        case .task where step.holder == ownTask: (.stack("this task"), Cost.stack)
        case .task: (.living, 0)
        case .object(let type) where type.isOfTether: (.living, 0)
        default: nil
        }
    }

    private func path(
        from root: MemoryPlaces.Root, _ edge: MemoryPlaces.Edge?, _ steps: [Step], _ last: Int,
        _ cost: Int
    ) -> RootPath {
        var edges = edge.map { [$0] } ?? []
        var holders: [(HiddenAddress, MemoryPlaces.Kind)] = []
        var next: Int? = last
        while let number = next {
            holders.append((steps[number].holder, steps[number].kind))
            edges.append(steps[number].edge)
            next = steps[number].held
        }
        return RootPath(root: root, edges: edges, holders: holders, cost: cost)
    }
}

/// Entries in the order of their costs, which are few different numbers.
private struct CostQueue<Entry> {
    private var entries: [Int: [Entry]] = [:]
    /// The costs of entries, the least one last.
    private var costs: [Int] = []

    mutating func push(_ entry: Entry, _ cost: Int) {
        if entries[cost] == nil {
            entries[cost] = []
            costs.insert(cost, at: costs.firstIndex { $0 < cost } ?? costs.count)
        }
        entries[cost]?.append(entry)
    }

    mutating func pop() -> (Entry, cost: Int)? {
        guard let cost = costs.last, let entry = entries[cost]?.popLast() else { return nil }
        if entries[cost]?.isEmpty == true {
            entries[cost] = nil
            costs.removeLast()
        }
        return (entry, cost)
    }
}
