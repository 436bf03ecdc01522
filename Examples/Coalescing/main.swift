// Many changes, one redraw.
//
// A view requests a redraw with every change. Requests that are enqueued `.whenIdle` coalesce on
// name and sender: the view is redrawn once, when the run loop is idle. Requests that are posted
// `.now` redraw the view each time.
//
// Prints: Three changes, posted whenIdle:
// Prints: Three changes, posted now:
// Prints: Redrawn once.
// Prints: Redrawn 3 times.

import Foundation
import Tether

extension Notification.Name {
    static let needsRedraw = Notification.Name("needsRedraw")
}

@MainActor final class View {
    private(set) var redraws = 0
    private let queue: PostingQueue

    init(center: ObserverCenter) {
        queue = PostingQueue(notificationCenter: center)
        center.observe(.needsRedraw, from: self, owner: self, on: .mainActor) { view, _ in
            view.redraws += 1
            print("  redrawn")
        }
    }

    func change(_ what: String, style: PostingQueue.PostingStyle) {
        print("  \(what) changed")
        queue.enqueue(Notification(name: .needsRedraw, object: self), postingStyle: style)
    }
}

let center = ObserverCenter()
let view = View(center: center)

for style in [PostingQueue.PostingStyle.whenIdle, .now] {
    print("Three changes, posted \(style):")
    let before = view.redraws
    for what in ["title", "colour", "size"] { view.change(what, style: style) }
    // The loop ends when the queue has posted, because no other source is left.
    while view.redraws == before, RunLoop.main.run(mode: .default, before: .distantFuture) {}
    let redraws = view.redraws - before
    print("Redrawn \(redraws == 1 ? "once" : "\(redraws) times").\n")
}

guard view.redraws == 1 + 3 else {
    fatalError("Expected 1 redraw when idle and 3 at once, saw \(view.redraws).")
}
