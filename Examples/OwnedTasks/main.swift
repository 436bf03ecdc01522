// A view model whose observations, streams and tasks end with it.
//
// The model owns everything that it starts. It stores no task, cancels none, and needs no `deinit`:
// the `deinit` below only prints.
//
// Prints: title: Emma
// Prints: title: Emma, edited
// Prints: page 1
// Prints: page 2
// Prints: running: 3 tasks, 1 closure
// Prints: the timer was cancelled
// Prints: the model is deallocated
// Prints: the poll was cancelled
// Prints: the stream has no reader

import Foundation
import Observation
import Tether

@MainActor @Observable final class Book {
    var title = "Emma"
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor final class ReaderModel {
    private(set) var title = ""
    private(set) var page = 0

    init(_ book: Book, pages: AsyncStream<Int>, polled: AsyncStream<Void>.Continuation) {
        // The values of observable properties.
        Observations { book.title }.observe(owner: self) { model, title in
            model.title = title
            print("title: \(title)")
        }
        // Any other async sequence.
        pages.observe(owner: self) { model, page in
            model.page = page
            print("page \(page)")
        }
        // A task, which captures nothing of the model.
        Task(owner: self) {
            polled.yield()
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            print("the poll was cancelled")
            polled.finish()
        }
        // Anything else, with a closure that ends it.
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        OwnerLifetime.whenEnded(self) {
            timer.cancel()
            print("the timer was cancelled")
        }
    }

    deinit { print("the model is deallocated") }

    /// Waits until the model shows a title and a page.
    func shows(_ title: String, page: Int) async {
        while self.title != title || self.page != page { await Task.yield() }
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor func run() async {
    let book = Book()
    let (pages, input) = AsyncStream.makeStream(of: Int.self)
    let (polls, polled) = AsyncStream.makeStream(of: Void.self)
    var model: ReaderModel? = ReaderModel(book, pages: pages, polled: polled)

    await model?.shows("Emma", page: 0)
    book.title = "Emma, edited"
    await model?.shows("Emma, edited", page: 0)
    input.yield(1)
    await model?.shows("Emma, edited", page: 1)
    input.yield(2)
    await model?.shows("Emma, edited", page: 2)

    let running = OwnerObservers(of: model!).audit()
    let closures = running.count { $0.target == "owner's end" }
    print("running: \(running.count - closures) tasks, \(closures) closure")

    model = nil
    for await _ in polls {}
    if case .terminated = input.yield(3) { print("the stream has no reader") }
}

if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { await run() }
