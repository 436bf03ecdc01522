import Foundation
import Testing

@testable import Tether

/// The side table, driven by hand.
@Suite struct OwnerTableTests {
    private let table = OwnerTable()
    private let owner = Plain()
    private var identity: ObjectIdentifier { ObjectIdentifier(owner) }

    private func attach(_ observer: NotificationObserver, exactly: Bool = false) throws -> OwnedRegistration {
        let registration = OwnedRegistration(
            center: makeCore(), details: nil, flags: 0, site: RegistrationSite(file: #fileID, line: #line)
        ) { (_: Plain, _) in }
        try #require(table.attach(observer, to: owner, as: registration, exactly: exactly))
        return registration
    }

    private func makeObserver() -> NotificationObserver { NotificationObserver(center: ObserverCenter()) }

    private func makeCore(exactly: Bool = false) -> CenterCore { CenterCore(usesExactLifetimes: exactly) }

    // MARK: Records

    @Test(arguments: [false, true])
    func `M9 an attachment makes a record, and its end removes it`(exactly: Bool) throws {
        #expect(!table.hasRecord(of: identity))
        let attached = try attach(makeObserver(), exactly: exactly)
        #expect(table.hasRecord(of: identity))
        let record = try #require(attached.record)
        #expect(record.identity == identity && record.reference.take() === owner)
        _ = table.detach(attached)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O6 attachments of one owner share one record, which goes with the last`() throws {
        let first = try attach(makeObserver())
        let second = try attach(makeObserver(), exactly: true)
        #expect(first.record === second.record)
        _ = table.detach(first)
        #expect(table.hasRecord(of: identity))
        _ = table.detach(second)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O5 a record made anew is another record`() throws {
        let core = makeCore()
        let first = try #require(table.watchSender(owner, for: core))
        table.unwatchSender(first, for: core)
        let second = try #require(table.watchSender(owner, for: core))
        #expect(first !== second)
        // What the first one is still told changes nothing for the second.
        table.unwatchSender(first, for: core)
        #expect(table.hasRecord(of: identity))
        table.unwatchSender(second, for: core)
        #expect(!table.hasRecord(of: identity))
    }

    @Test func `O8 an object that is being deinitialised gets no attachment and leaves no record`() {
        let results = Log<Bool>()
        let (table, core) = (table, makeCore())
        _ = LoggedObject("owner", Log()) { owner in
            results.add(table.watchSender(owner, for: core) != nil)
            let registration = OwnedRegistration(
                center: core, details: nil, flags: 0, site: RegistrationSite(file: #fileID, line: #line)
            ) { (_: LoggedObject, _) in }
            let observer = NotificationObserver(center: ObserverCenter())
            results.add(table.attach(observer, to: owner, as: registration, exactly: true))
            results.add(registration.record != nil)
            results.add(table.hasRecord(of: ObjectIdentifier(owner)))
        }
        #expect(results.entries == [false, false, false, false])
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

    @Test func `R8 the end of an owner takes out no observer that another thread ends, and lets go of it`() throws {
        let observers = (0..<3).map { _ in makeObserver() }
        let attachments = try observers.map { try attach($0) }
        let record = try #require(attachments[0].record)
        #expect(attachments[0].close())
        #expect(record.state.removeFirst().registration === attachments[1])
        #expect(attachments[2].close())
        let last = record.state.removeFirst()
        #expect(last.registration == nil && last.isLast)
    }

    @Test func `O11 the table holds an owner's observers until they are detached`() throws {
        weak var observer: NotificationObserver?
        let attachment: OwnedRegistration
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
        var kept: [(NotificationObserver, OwnedRegistration)] = []
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
        let records = try [first, first, second].map { try #require(table.watchSender(owner, for: $0)) }
        let record = records[0]
        #expect(records.allSatisfy { $0 === record })
        table.unwatchSender(record, for: second)
        table.unwatchSender(record, for: second)
        table.unwatchSender(record, for: first)
        #expect(table.hasRecord(of: identity))
        table.unwatchSender(record, for: first)
        #expect(!table.hasRecord(of: identity))
    }

    #if canImport(ObjectiveC)
    @Test func `O5 a record of an object that has gone gives way to the next object at its address`() {
        let object = Holder<Plain>()
        let core = makeCore()
        var (reused, addresses) = (0, Set<ObjectIdentifier>())
        for _ in 0..<1000 {
            object.object = Plain()
            if !addresses.insert(ObjectIdentifier(object.object!)).inserted { reused += 1 }
            let record = table.watchSender(object.object!, for: core)
            #expect(record?.reference.take() === object.object)
            object.release()
        }
        #expect(reused > 0)
    }

    #endif

    #if !canImport(ObjectiveC)
    @Test func `M5 the end of a sender's deinit ends its observers, also where another reference to it stays`() throws {
        let core = makeCore(exactly: true)
        let record = try #require(table.watchSender(owner, for: core))
        // As an actor that is kept until its job returns.
        let context = unsafe try #require(table.willEnd(record.reference.rawAddress))
        unsafe table.didEnd(context)
        table.unwatchSender(record, for: core)
        #expect(!table.hasRecord(of: identity))
        // The record has gone: a late call finds nothing.
        #expect(unsafe table.willEnd(record.reference.rawAddress) == nil)
    }

    @Test func `O3 an end told of an object that only the sweep may end is passed over`() throws {
        let record = try #require(table.watchSender(owner, for: makeCore()))
        #expect(unsafe table.willEnd(record.reference.rawAddress) == nil)
        #expect(table.hasRecord(of: identity))
    }
    #endif
}
