import Foundation
import Tether

/// An executor of tasks. The player runs the jobs.
///
/// SAFETY: everything of a run is on one thread.
private final class LibraryExecutor: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    func run() {
        while !jobs.isEmpty {
            unsafe jobs.removeFirst().runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// A place for a sequence, and the tasks begun there, which take one element each.
///
/// SAFETY: everything of a run is on one thread.
final class LibraryPlace: @unchecked Sendable {
    private var sequence: (id: Int, elements: NotificationSequence<Notification>)?
    /// The live tasks, oldest first.
    private var tasks: [(number: Int, task: Task<Void, Never>)] = []
    private var begun = 0
    private let executor = LibraryExecutor()
    private let player: Player

    init(player: Player) {
        self.player = player
    }

    func put(_ elements: NotificationSequence<Notification>, id: Int) { sequence = (id, elements) }

    private func begin() -> Task<Void, Never>? {
        guard let (id, elements) = sequence else { return nil }
        begun += 1
        let number = begun
        let task = Task(executorPreference: executor) { [unowned self] in
            var iterator = elements.makeAsyncIterator()
            let element = await iterator.next()
            end(number, taking: element, from: id)
            // The task may have the last reference to the sequence, which is released here and not
            // before.
            withExtendedLifetime((elements, iterator)) {}
        }
        tasks.append((number, task))
        return task
    }

    private func end(_ number: Int, taking element: Notification?, from id: Int) {
        tasks.removeAll { $0.number == number }
        player.taken(
            from: id, element.map { (LibraryPayload.number(of: $0), LibraryForms.sender(of: $0)) })
    }

    func run() { executor.run() }

    func take() { if begin() != nil { run() } }

    func cancel() {
        guard let task = tasks.first?.task ?? begin() else { return }
        task.cancel()
        run()
    }

    func drop() { sequence = nil }

    func leave() {
        for (_, task) in tasks { task.cancel() }
        run()
        drop()
    }
}
