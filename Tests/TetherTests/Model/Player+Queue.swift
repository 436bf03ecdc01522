extension Player {
    /// Performs an operation on a posting queue.
    func performOnQueue(_ operation: ModelOperation) {
        switch operation {
        case .enqueue(let center, let name, let sender, let style, let mask):
            guard isThere(sender) else { return }
            posts += 1
            if enqueued.count == 8 { enqueued.removeFirst() }
            var object: Int?
            if case .object(let place, _) = sender, place != ModelOperation.dying { object = objects[place] }
            enqueued.append((posts, name, sender, object))
            world.enqueue(center: center, name: name, sender: sender, number: posts, style: style, mask: mask)
        case .dequeue(let center, let name, let sender, let mask):
            guard isThere(sender) else { return }
            world.dequeue(center: center, name: name, sender: sender, mask: mask)
        case .dequeueExactly(let center, let ago):
            guard ago < enqueued.count else { return }
            let one = enqueued[enqueued.count - 1 - ago]
            // With its own sender, who may have gone or be somewhere else by now.
            if case .object(let place, _) = one.sender {
                guard place != ModelOperation.dying, let object = one.object, objects[place] == object else { return }
            }
            world.dequeueExactly(center: center, name: one.name, sender: one.sender, number: one.number)
        case .flush(let center): world.flush(center)
        case .renewQueue(let center): world.renewQueue(center)
        default: break
        }
    }
}
