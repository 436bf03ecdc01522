import Foundation
import Synchronization
import Tether

// A file for Foundation's center. With `NotificationCenter` in place of `ObserverCenter`, and
// without the import of Tether, the file compiles unchanged. `MovedOverTests` runs the file, and
// checks the claim with the compiler.

extension Notification.Name {
    static let documentDidOpen = Notification.Name("documentDidOpen")
    static let documentDidChange = Notification.Name("documentDidChange")
    static let documentDidClose = Notification.Name("documentDidClose")
}

final class Document: Sendable {
    let title: String
    private let center: ObserverCenter

    init(title: String, center: ObserverCenter = .default) {
        self.title = title
        self.center = center
    }

    func open() {
        center.post(name: .documentDidOpen, object: self)
    }

    func change(line: Int) {
        center.post(name: .documentDidChange, object: self, userInfo: ["line": line])
    }

    func close() {
        center.post(Notification(name: .documentDidClose, object: self, userInfo: ["saved": true]))
    }
}

/// Tokens in properties and in an array, removed by hand, as on Foundation's center.
final class DocumentLog {
    private let center: ObserverCenter
    private let queue: OperationQueue
    private let lines = Lines()
    private var openToken: (any NSObjectProtocol)?
    private var closeToken: (any NSObjectProtocol)!
    private var tokens: [any NSObjectProtocol] = []
    private var tokensByName: [Notification.Name: any NSObjectProtocol] = [:]

    final class Lines: Sendable {
        private let content = Mutex<[String]>([])

        var all: [String] { content.withLock { $0 } }
        func add(_ line: String) { content.withLock { $0.append(line) } }
    }

    var text: [String] { lines.all }

    init(_ document: Document, queue: OperationQueue, center: ObserverCenter = .default) {
        self.center = center
        self.queue = queue
        openToken = center.addObserver(forName: .documentDidOpen, object: document, queue: nil) {
            [lines] note in
            lines.add("opened \((note.object as? Document)?.title ?? "nothing")")
        }
        closeToken = center.addObserver(
            forName: .documentDidClose, object: document, queue: nil,
            using: { [lines] note in
                lines.add("closed, saved \(note.userInfo?["saved"] as? Bool ?? false)")
            })
        tokens.append(
            center.addObserver(forName: .documentDidChange, object: document, queue: queue) {
                [lines] note in
                lines.add("changed line \(note.userInfo?["line"] ?? "none")")
            })
        tokens += [
            center.addObserver(forName: nil, object: document, queue: nil) { [lines] note in
                lines.add("heard \(note.name.rawValue)")
            }
        ]
        tokensByName[.documentDidChange] = center.addObserver(
            forName: .documentDidChange, object: nil, queue: nil
        ) {
            [lines] note in
            lines.add("any document changed")
        }
    }

    func stopListeningToOpen() {
        guard let token = openToken else { return }
        center.removeObserver(token)
        openToken = nil
    }

    func stopListeningByName() {
        for (name, token) in tokensByName {
            center.removeObserver(token, name: name, object: nil)
        }
        tokensByName.removeAll()
    }

    deinit {
        if let openToken { center.removeObserver(openToken) }
        center.removeObserver(closeToken!)
        tokens.forEach(center.removeObserver)
        stopListeningByName()
    }
}
