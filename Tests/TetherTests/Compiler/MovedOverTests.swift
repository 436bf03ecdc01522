import Foundation
import Testing

@testable import Tether

/// Files that were written for Foundation's center and queue.
@Suite struct MovedOverTests {
    @Test func `M8 code written for Foundation's center runs on ours as it is`() {
        let center = ObserverCenter()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let document = Document(title: "Letter", center: center)
        do {
            let log = DocumentLog(document, queue: queue, center: center)
            document.open()
            #expect(log.text == ["opened Letter", "heard documentDidOpen"])
            document.change(line: 3)
            #expect(log.text.dropFirst(2) == ["heard documentDidChange", "any document changed"])
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            #expect(log.text.dropFirst(4) == ["changed line 3"])
            log.stopListeningToOpen()
            log.stopListeningByName()
            document.open()
            #expect(log.text.dropFirst(5) == ["heard documentDidOpen"])
            Document(title: "Another", center: center).change(line: 1)
            #expect(log.text.count == 6)
            document.close()
            #expect(log.text.dropFirst(6) == ["closed, saved true", "heard documentDidClose"])
        }
        document.open()
        #expect(center.core.isEmpty)
    }

    @Test func `M1 M4 R3 M8 the calls of other programs observe, post and remove as they are`() {
        let (center, lines) = (ObserverCenter(), DocumentLog.Lines())
        let account = Document(title: "Account", center: center)
        let watcher = AccountWatcher(center, lines: lines)
        watcher.start(account: account)
        center.post(name: .accountDidSignIn, object: account, userInfo: ["number": 7])
        #expect(lines.all == ["signed in 7", "accountDidSignIn"])
        center.post(each: .accountDidSignOut, objects: [nil, AccountID(number: 8)])
        center.post(Notification(name: .accountsNeedRefresh))
        #expect(
            lines.all.dropFirst(2) == [
                "signed out", "accountDidSignOut", "signed out", "accountDidSignOut", "accountsNeedRefresh",
                "accountsNeedRefresh",
            ])
        watcher.stopRefreshing()
        center.post(name: .accountsNeedRefresh, object: nil)
        #expect(lines.all.dropFirst(8) == ["accountsNeedRefresh"])
        watcher.stop()
        watcher.stop()
        center.post(each: .accountDidSignIn, objects: [account])
        #expect(lines.all.count == 9)
        watcher.start(account: nil)
        center.post(name: .accountDidSignIn, object: AccountID(number: 9))
        #expect(lines.all.dropFirst(9) == ["signed in 9", "accountDidSignIn"])
        watcher.stop()
        #expect(center.core.isEmpty)
    }

    @Test func `Q1 Q3 Q4 the calls of other programs enqueue, coalesce and dequeue as they are`() {
        let (center, lines) = (ObserverCenter(), DocumentLog.Lines())
        let token = center.addObserver(forName: nil, object: nil, queue: nil) { lines.add($0.name.rawValue) }
        let queue = AccountRefresh.queue(for: center)
        AccountRefresh.postNow(queue, object: nil)
        #expect(lines.all.count == 2)
        AccountRefresh.postSoon(queue, object: nil)
        #expect(lines.all.count == 2)
        queue.flush()
        #expect(lines.all.count == 3)
        AccountRefresh.postSoon(queue, object: nil)
        AccountRefresh.forget(queue, object: nil)
        queue.flush()
        #expect(lines.all.count == 3)
        #expect(AccountRefresh.ofThisThread === PostingQueue.default)
        withExtendedLifetime(token) {}
    }

    #if os(Linux)
    @Test func `M8 Q1 that code compiles against Foundation's center and queue with only the types' names changed`()
        throws
    {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let ours = try ["MovedOver.swift", "MovedOverShapes.swift"].map { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }.joined()
        let theirs =
            ours
            .replacing("import Tether\n", with: "")
            .replacing("ObserverCenter", with: "NotificationCenter")
            .replacing("PostingQueue", with: "NotificationQueue")
        #expect(theirs != ours)
        let compiler = try Compiler()
        #expect(try compiler.diagnostics(of: theirs).contains("error") == false)
        #expect(try compiler.diagnostics(of: ours).contains("error") == false)
    }
    #endif
}
