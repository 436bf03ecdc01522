import Foundation
import Testing

@testable import Tether

/// The side table, driven by hand.
@Suite struct OwnerTableTests {
    private let table = OwnerTable()
    private let owner = Plain()
    private var identity: ObjectIdentifier { ObjectIdentifier(owner) }

    private func attach(_ observer: NotificationObserver, exactly: Bool = false) throws -> Tether.Attachment {
        let attachment = Tether.Attachment(record: try #require(table.reserve(owner, exactly: exactly)))
        table.attach(observer, to: attachment.record, as: attachment)
        return attachment
    }

    private func makeObserver() -> NotificationObserver { NotificationObserver(center: ObserverCenter()) }

    private func makeCore() -> CenterCore { CenterCore(usesExactLifetimes: false) }

    // MARK: Reservations

    @Test(arguments: [false, true])
    func `M9 a reservation makes a record, and giving it back removes it`(exactly: Bool) throws {
        #expect(!table.hasRecord(of: identity))
        let record = try #require(table.reserve(owner, exactly: exactly))
        #expect(table.hasRecord(of: identity))
        #expect(record.identity == identity && record.reference.take() === owner)
        table.cancel(record)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O6 reservations of one owner share one record, which goes with the last`() throws {
        let first = try #require(table.reserve(owner, exactly: false))
        let second = try #require(table.reserve(owner, exactly: true))
        #expect(first === second)
        table.cancel(first)
        #expect(table.hasRecord(of: identity))
        table.cancel(second)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O5 a record made anew is another record`() throws {
        let first = try #require(table.reserve(owner, exactly: false))
        table.cancel(first)
        let second = try #require(table.reserve(owner, exactly: false))
        #expect(first !== second)
        // What the first one is still told changes nothing for the second.
        table.unwatchSender(first, for: makeCore())
        #expect(table.hasRecord(of: identity))
        table.cancel(second)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O8 an object that is being deinitialised gets no reservation and leaves no record`() {
        let reserved = Log<Bool>()
        let table = table
        _ = LoggedObject("owner", Log()) { owner in
            reserved.add(table.reserve(owner, exactly: true) != nil)
            reserved.add(table.hasRecord(of: ObjectIdentifier(owner)))
        }
        #expect(reserved.entries == [false, false])
    }

    // MARK: Attachments

    @Test func `O7 observers are listed in order of attachment, and detached one by one`() throws {
        let observers = (0..<4).map { _ in makeObserver() }
        let attachments = try observers.map { try attach($0) }
        #expect(table.observers(of: owner) == observers)
        #expect(table.detach(attachments[1]) === observers[1])
        #expect(table.detach(attachments[1]) == nil)
        #expect(table.observers(of: owner) == [observers[0], observers[2], observers[3]])
        for index in [3, 0, 2] { #expect(table.detach(attachments[index]) === observers[index]) }
        #expect(table.observers(of: owner).isEmpty)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O11 the table holds an owner's observers until they are detached`() throws {
        weak var observer: NotificationObserver?
        let attachment: Tether.Attachment
        do {
            let made = makeObserver()
            observer = made
            attachment = try attach(made)
        }
        #expect(observer != nil)
        _ = table.detach(attachment)
        #expect(observer == nil)
    }

    @Test func `O7 detaching thousands in any order leaves the rest in order`() throws {
        var kept: [(NotificationObserver, Tether.Attachment)] = []
        for _ in 0..<2000 {
            let observer = makeObserver()
            kept.append((observer, try attach(observer)))
        }
        var seed: UInt64 = 42
        while kept.count > 10 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let (observer, attachment) = kept.remove(at: Int(seed >> 33) % kept.count)
            #expect(table.detach(attachment) === observer)
        }
        #expect(table.observers(of: owner) == kept.map { $0.0 })
        for (observer, attachment) in kept { #expect(table.detach(attachment) === observer) }
        #expect(!table.hasRecord(of: identity))
    }

    // MARK: Watches

    @Test func `M5 a sender's watches are counted for each center`() throws {
        let (first, second) = (makeCore(), makeCore())
        for core in [first, first, second] {
            table.watchSender(try #require(table.reserve(owner, exactly: false)), for: core)
        }
        let record = try #require(table.reserve(owner, exactly: false))
        table.cancel(record)
        table.unwatchSender(record, for: second)
        table.unwatchSender(record, for: second)
        table.unwatchSender(record, for: first)
        #expect(table.hasRecord(of: identity))
        table.unwatchSender(record, for: first)
        #expect(!table.hasRecord(of: identity))
    }

    #if !canImport(ObjectiveC)
    @Test func `M5 an end is complete when the unowned count has fallen, and else left to the sweep`() throws {
        let record = try #require(table.reserve(owner, exactly: true))
        let core = makeCore()
        table.watchSender(record, for: core)
        let context = unsafe try #require(table.willEnd(record.reference.rawAddress))
        unsafe table.didEnd(context, unownedBefore: record.reference.unownedCount)
        #expect(table.hasRecord(of: identity))
        table.unwatchSender(record, for: core)
        #expect(!table.hasRecord(of: identity))
        // The record has gone: an end that is told of late finds nothing.
        #expect(unsafe table.willEnd(record.reference.rawAddress) == nil)
    }

    @Test func `O3 an end told of an object that only the sweep may end is passed over`() throws {
        let record = try #require(table.reserve(owner, exactly: false))
        table.watchSender(record, for: makeCore())
        #expect(unsafe table.willEnd(record.reference.rawAddress) == nil)
        #expect(table.hasRecord(of: identity))
    }
    #endif
}
