import Foundation
import Testing
import Tether

/// Files written for Foundation's center and queue.
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
        #expect(center.isEmpty)
    }

    #if os(Linux)
    @Test func `M8 Q1 the same code compiles with Foundation's types in place of Tether's`()
        throws
    {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let ours = try String(
            contentsOf: folder.appending(path: "MovedOver.swift"), encoding: .utf8)
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
