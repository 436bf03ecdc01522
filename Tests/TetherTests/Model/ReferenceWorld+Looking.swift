import Foundation

extension ReferenceWorld {
    func picture(ofCenter center: Int) -> CenterPicture {
        if let foreign = foreign(at: center) {
            return CenterPicture(
                rows: foreign.observers.map(row),
                closures: center == Places.foundation ? nil : CenterPicture.Closures(count: foreign.closureCount))
        }
        return CenterPicture(
            rows: centers[center].observers.map(row),
            posts: CenterPicture.Posts(
                asap: queues[center].count(isIdle: false), whenIdle: queues[center].count(isIdle: true),
                dropped: centers[center].droppedPosts))
    }

    private func row(of observer: ReferenceObserver) -> CenterPicture.Row {
        CenterPicture.Row(
            name: observer.name.map { LibraryWorld.names[$0].rawValue },
            sender: describe(observer.sender),
            owner: observer.owner.map { $0.isEnding ? "an owner that has gone" : describe($0.id) },
            target: observer.sequence?.description ?? observer.shownTarget?.description ?? "poster",
            pending: observer.pending.count + (observer.kept == nil ? 0 : 1) + (observer.sequence?.count ?? 0),
            dropped: observer.dropped + (observer.sequence?.dropped ?? 0), muted: observer.mutings,
            isOnce: observer.isOnce,
            key: observer.key.map { String(reflecting: LibraryWorld.values[$0]) })
    }

    private func describe(_ sender: ReferenceSender) -> String? {
        switch sender {
        case .nobody: nil
        case .object(let object): object.isEnding ? "a sender that has gone" : describe(object.id)
        case .value(let value): String(reflecting: LibraryWorld.values[value])
        }
    }

    func picture(ofToken token: Int) -> TokenPicture {
        guard let observer = tokens[token]?.observer, !observer.hasEnded else { return TokenPicture() }
        return TokenPicture(
            isActive: true, isMuted: observer.isMuted, target: observer.shownTarget?.description ?? "poster",
            backlog: observer.backlog.description)
    }

    func attachedCount(to object: Int) -> Int { objects[object]?.attached.count ?? 0 }
}
