/// Makes a failing sequence shorter, as long as it fails: by leaving out ever smaller chunks, then by making its
/// operations simpler.
struct Shrinking {
    private var operations: [ModelOperation]
    private let fails: ([ModelOperation]) -> Bool
    private var triesLeft: Int

    static func shortest(
        _ operations: [ModelOperation], tries: Int = 20_000, where fails: @escaping ([ModelOperation]) -> Bool
    ) -> [ModelOperation] {
        var shrinking = Shrinking(operations: operations, fails: fails, triesLeft: tries)
        repeat { shrinking.leaveOut() } while shrinking.simplify() && shrinking.triesLeft > 0
        return shrinking.operations
    }

    private mutating func accept(_ candidate: [ModelOperation]) -> Bool {
        guard triesLeft > 0 else { return false }
        triesLeft -= 1
        guard fails(candidate) else { return false }
        operations = candidate
        return true
    }

    private mutating func leaveOut() {
        var size = operations.count
        while size > 0 {
            var start = 0
            while start < operations.count {
                var candidate = operations
                candidate.removeSubrange(start..<min(start + size, operations.count))
                if !accept(candidate) { start += size }
            }
            size /= 2
        }
    }

    /// True if anything became simpler.
    private mutating func simplify() -> Bool {
        var isSimpler = false
        for index in operations.indices {
            // What was accepted may be made simpler still.
            var goesOn = true
            while goesOn {
                goesOn = false
                for simpler in operations[index].simpler {
                    var candidate = operations
                    candidate[index] = simpler
                    guard accept(candidate) else { continue }
                    (goesOn, isSimpler) = (true, true)
                    break
                }
            }
        }
        return isSimpler
    }
}

extension ModelOperation {
    /// Operations that are a little simpler.
    fileprivate var simpler: [ModelOperation] {
        switch self {
        case .observe(let observation): observation.simpler.map { .observe($0) }
        case .make(let object, let atEnd): ModelOperation.simpler(atEnd).map { .make(object: object, atEnd: $0) }
        case .post(let center, let name, let sender, let form):
            sender.simpler.map { .post(center: center, name: name, sender: $0, form: form) }
                + (form == .call ? [] : [.post(center: center, name: name, sender: sender, form: .call)])
                + (name == 0 ? [] : [.post(center: center, name: 0, sender: sender, form: form)])
        case .enqueue(let center, let name, let sender, let style, let mask):
            sender.simpler.map { .enqueue(center: center, name: name, sender: $0, style: style, mask: mask) }
        case .removeToken(let center, let token, let form, let name, let sender):
            sender.simpler.map { .removeToken(center: center, token: token, form: form, name: name, sender: $0) }
                + (form == 0 ? [] : [.removeToken(center: center, token: token, form: 0, name: name, sender: sender)])
        case .removeObject(let center, let owner, let form, let name, let sender):
            sender.simpler.map { .removeObject(center: center, owner: owner, form: form, name: name, sender: $0) }
                + (form == 0 ? [] : [.removeObject(center: center, owner: owner, form: 0, name: name, sender: sender)])
        case .onThread(let operations): ModelOperation.simpler(operations).map { .onThread($0) }
        case .sequence(let asked): asked.simpler.map { .sequence($0) }
        case .mute(let token, true): [.mute(token: token, keepingNewest: false)]
        case .bound(let token, let backlog): backlog.simpler.map { .bound(token: token, to: $0) }
        default: []
        }
    }

    /// Lists with one operation less, or with a simpler one.
    fileprivate static func simpler(_ operations: [ModelOperation]) -> [[ModelOperation]] {
        operations.indices.flatMap { index in
            var shorter = operations
            shorter.remove(at: index)
            return [shorter]
                + operations[index].simpler.map { simpler in
                    var changed = operations
                    changed[index] = simpler
                    return changed
                }
        }
    }
}

extension ModelOperation.Backlog {
    var simpler: [ModelOperation.Backlog] {
        switch self {
        case .unbounded: []
        case .newest(let limit): limit == 1 ? [.unbounded] : [.unbounded, .newest(limit - 1)]
        case .oldest(let limit): [.unbounded, .newest(limit)] + (limit == 1 ? [] : [.oldest(limit - 1)])
        }
    }
}

extension ModelOperation.Sender {
    fileprivate var simpler: [ModelOperation.Sender] {
        switch self {
        case .nobody: []
        case .nothing: [.nobody]
        case .object(let place, let form): form == 0 ? [.nobody] : [.nobody, .object(place)]
        case .value(let value, let form): form == 0 ? [.nobody] : [.nobody, .value(value)]
        }
    }
}

extension Observation {
    fileprivate var simpler: [Observation] {
        func with<Value: Equatable>(_ field: WritableKeyPath<Observation, Value>) -> [Observation] {
            let usual = Observation()[keyPath: field]
            guard self[keyPath: field] != usual else { return [] }
            var simpler = self
            simpler[keyPath: field] = usual
            return [simpler]
        }
        let lists = ModelOperation.simpler(actions).map { actions in
            var simpler = self
            simpler.actions = actions
            return simpler
        }
        let senders = sender.simpler.map { sender in
            var simpler = self
            simpler.sender = sender
            return simpler
        }
        return lists + senders + with(\.owner) + with(\.scheduler) + with(\.once) + with(\.key) + with(\.keyForm)
            + with(\.isFoundations) + with(\.keepsToken) + with(\.center)
    }
}
