/// The list of thread records, step by step: every store to it by a thread that comes or goes, and every step of a thread
/// that looks through it without the lock, in every order. It stands for `adopt`, `unlink` and `forEachPin` in
/// `Threads/PostingThread.swift`; `ThreadRecords` sees to the memory orders.
///
/// A record that is unlinked keeps its place for who is at it, and may be in use again, in front of the list, by then. The
/// look must come by the record that was in use all the time, and must come to an end.
struct RecordList {
    /// What could be wrong with it.
    enum Mistake: String, CaseIterable {
        case linksBeforeItLeadsOn = "a record is linked before it leads on"
        case clearsUnlinkedRecord = "a record that is unlinked leads nowhere"
    }

    private struct State: Hashable {
        /// Records count from 1; 0 is the list's end.
        var newest = 0
        var older: [Int]
        var inUse: Set<Int> = []
        var unused: [Int] = []
        var made = 0
        var operationsLeft: Int
        /// What the thread that has the lock does next.
        var steps: [Step] = []
        /// A record that is in use from before the look until after it.
        var target = 0
        var look: Look?
    }

    private enum Step: Hashable {
        case leadOn(from: Int, to: Int)
        case link(Int)
        case use(Int)
        case free(Int)
    }

    private struct Look: Hashable {
        var position: Int
        var hasVisited: Bool
    }

    let mistake: Mistake?
    private let records: Int
    private(set) var states = 0
    /// Whether a look passed the target over, or may go round for ever.
    private(set) var isBroken = false

    init(mistake: Mistake? = nil, records: Int = 4, operations: Int = 5) {
        self.mistake = mistake
        self.records = records
        let start = State(older: Array(repeating: 0, count: records + 1), operationsLeft: operations)
        var seen: Set = [start]
        var left = [start]
        while let state = left.popLast(), !isBroken {
            states += 1
            if let look = state.look {
                isBroken = isBroken || (look.position == 0 && !look.hasVisited) || isRound(state, from: look.position)
                if look.position == 0 { continue }
            }
            for next in successors(of: state) where seen.insert(next).inserted { left.append(next) }
        }
    }

    /// Whether the list from a record on has no end, as long as nobody changes it.
    private func isRound(_ state: State, from position: Int) -> Bool {
        var position = position
        for _ in 0...records where position != 0 { position = state.older[position] }
        return position != 0
    }

    private func successors(of state: State) -> [State] {
        var successors: [State] = []
        func add(_ change: (inout State) -> Void) {
            var next = state
            change(&next)
            successors.append(next)
        }
        if let step = state.steps.first {
            add {
                $0.steps.removeFirst()
                take(step, &$0)
            }
        } else if state.operationsLeft > 0 {
            if !state.unused.isEmpty || state.made < records { add(beginAdoption) }
            for record in state.inUse where record != state.target { add { beginUnlinking(record, &$0) } }
        }
        if let look = state.look {
            add {
                let next = state.older[look.position]
                $0.look = Look(position: next, hasVisited: look.hasVisited || next == state.target)
            }
        } else if state.target == 0 {
            for record in state.inUse { add { $0.target = record } }
        } else {
            add { $0.look = Look(position: state.newest, hasVisited: state.newest == state.target) }
        }
        return successors
    }

    private func beginAdoption(_ state: inout State) {
        state.operationsLeft -= 1
        let record: Int
        if let known = state.unused.popLast() {
            record = known
        } else {
            state.made += 1
            record = state.made
        }
        let leadOn = Step.leadOn(from: record, to: state.newest)
        state.steps = mistake == .linksBeforeItLeadsOn ? [.link(record), leadOn] : [leadOn, .link(record)]
        state.steps.append(.use(record))
    }

    private func beginUnlinking(_ record: Int, _ state: inout State) {
        state.operationsLeft -= 1
        state.inUse.remove(record)
        let next = state.older[record]
        if state.newest == record {
            state.steps = [.link(next)]
        } else {
            var newer = state.newest
            while state.older[newer] != record { newer = state.older[newer] }
            state.steps = [.leadOn(from: newer, to: next)]
        }
        if mistake == .clearsUnlinkedRecord { state.steps.append(.leadOn(from: record, to: 0)) }
        state.steps.append(.free(record))
    }

    private func take(_ step: Step, _ state: inout State) {
        switch step {
        case .leadOn(let record, let next): state.older[record] = next
        case .link(let record): state.newest = record
        case .use(let record): state.inUse.insert(record)
        case .free(let record): state.unused.append(record)
        }
    }
}
