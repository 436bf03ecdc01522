#if os(Linux)

import Foundation
import Testing

/// The compiler's messages for mistakes: a sentence with the remedy, at the line of the mistake.
@Suite struct WrongProgramTests {
    private static let preamble = """
        import Dispatch
        import Foundation
        import Tether

        final class Model: Sendable {}

        final class Index: Sendable {
            func update(_ note: Notification) {}
            func clear() {}
            func find(_ text: String) {}
            func open(_ note: Notification) throws {}
            func save() {}
            func save(_ note: Notification) {}
            func isEmpty() -> Bool { true }
            func contains(_ note: Notification) -> Bool { true }
        }

        final class Other: Sendable { func update(_ note: Notification) {} }

        final class Unsafe { var count = 0 }

        struct Value: Sendable { func update(_ note: Notification) {} }

        @MainActor final class Sidebar {
            var title = ""
            func reload(_ note: Notification) {}
            func clear() {}
            func open(_ note: Notification) throws {}
        }

        @MainActor protocol Reloading: AnyObject { func reload(_ note: Notification) }

        @globalActor actor Kitchen { static let shared = Kitchen() }

        @Kitchen final class Stove { func heat(_ note: Notification) {} }

        actor Cache {
            func update(_ note: Notification) {}
            func clear() {}
        }

        struct ModelDidSave: NotificationCenter.AsyncMessage { typealias Subject = Model }

        struct SidebarDidMove: NotificationCenter.MainActorMessage { typealias Subject = Sidebar }

        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<ModelDidSave> { static var didSave: Self { .init() } }

        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<SidebarDidMove> { static var didMove: Self { .init() } }

        func save() async {}
        func saveOrFail() async throws {}

        """

    private static let parameters = """
        _ center: ObserverCenter, _ token: NotificationObserver, _ name: Notification.Name, _ model: Model, \
        _ optional: Model?, _ index: Index, _ other: Other, _ sidebar: Sidebar, _ stove: Stove, _ cache: Cache, \
        _ queue: DispatchQueue, _ operations: OperationQueue
        """

    private static let leaveOutSender =
        "leave out 'from:' to observe any sender, or pass a class instance"
    private static let owners = "an owner is a class instance or an actor, and not optional"
    private static let noTarget = "an async handler takes no target: leave out 'on:'"
    private static let noThrow = "no handler throws: write 'do { try … } catch { … }' in it"
    private static let order =
        "the order is: name, 'from:', 'owner:', 'on:', 'once:', 'key:', 'backlog:'"
    private static let target =
        "where a handler runs is 'on:', as in 'on: .dispatchQueue(queue)' or 'on: .main'"
    private static let sender =
        "the sender is 'from:', before 'owner:' and 'to:'; leave it out for any"
    private static let insideThePost = "leave out 'on:', and await in a task"
    private static let queueKind = "write '.dispatchQueue(queue)' or '.operationQueue(queue)'"
    private static let batching = "'on: .dispatchQueue(queue, batching: true)'"
    private static let methodOfType = "to: Sidebar.reload, of: sidebar"
    private static let ownActor = "a handler runs on the actor that is its owner"
    private static let backlog = "waiting deliveries is 'backlog: .newest(10)'"
    private static let ownerLabel = "the object whose end ends the observer is 'owner:'"
    private static let stream = "AsyncStream<Int>.makeStream().stream"
    private static let ownerAndElement = "'{ owner, element in … }'"
    private static let noTargetOfLoop = "leave out 'on:'"
    private static let callItInAClosure = "callTheMethodInAClosureOfObserve"
    private static let messageSubject =
        "'subject:' takes the 'Subject' of the message's type, not optional"
    private static let tooFewParameters = "expects 2 arguments, but 1 was used"
    private static let tooManyParameters = "expects 1 argument, but 2 were used"
    private static let orderOfMessages = "the order is: 'of:', 'for:', 'owner:'"
    private static let connection = "write 'connect(name, from: sender, to:"
    private static let limits = "'limits: .init(deliveryWait: .seconds(30))'"

    static let mistakes = [
        // The token.
        Mistake("center.observe(name) { _ in }", "warning: result of call to 'observe("),
        Mistake("center.observe(nil) { _ in }", "warning: result of call to 'observe("),
        Mistake(
            "center.observe(name, from: model, on: .main, once: true, key: 1) { _ in }",
            "warning: result of call to 'observe("),
        Mistake(
            "center.observe(name, on: .mainActor) { _ in }", "warning: result of call to 'observe("),
        Mistake(
            "center.addObserver(forName: name, object: nil, queue: nil) { _ in }",
            "warning: result of call to 'addObserver("),
        Mistake("token.target = .mainActor", "a token's target is '.main'"),
        Mistake("token.cancelAndWait()", "is not marked with 'await'", in: "async"),
        Mistake(
            "_ = PostingQueue.current", "async code has no run loop; use PostingQueue.main",
            in: "async"),
        Mistake(
            "_ = DeliveryTarget.currentThread", "use .main, .mainActor or a queue", in: "async"),
        Mistake(
            "let size = 10; _ = center.notifications(named: name, buffering: size)",
            "cannot convert value of type 'Int' to expected argument type 'BufferingPolicy'"),
        // The sender and the subject.
        Mistake("_ = center.observe(name, from: nil) { _ in }", leaveOutSender),
        Mistake("_ = center.observe(name, from: optional) { _ in }", leaveOutSender),
        Mistake("_ = center.observe(name, from: \"text\") { _ in }", leaveOutSender),
        Mistake("_ = center.observe(name, from: 1) { _ in }", "or 'ValueSender(value)'"),
        Mistake("_ = center.observe(name, from: optional) { _ in await save() }", leaveOutSender),
        Mistake(
            "_ = center.observe(name, from: optional, on: .mainActor) { _ in }", leaveOutSender),
        Mistake(
            "_ = center.observe(name, from: optional, on: .mainActor) { _ in await save() }",
            leaveOutSender),
        Mistake(
            "center.observe(name, from: optional, owner: index) { index, _ in index.clear() }",
            leaveOutSender),
        Mistake(
            "center.observe(name, from: optional, owner: index) { _, _ in await save() }",
            leaveOutSender),
        Mistake(
            "center.observe(name, from: optional, owner: sidebar, on: .mainActor) { sidebar, _ in sidebar.clear() }",
            leaveOutSender),
        Mistake(
            "center.observe(name, from: optional, owner: sidebar, on: .mainActor) { _, _ in await save() }",
            leaveOutSender),
        Mistake(
            "center.observe(name, from: optional, owner: cache) { (cache: isolated Cache, _) in cache.clear() }",
            "requires that 'Model?' be a class type"),
        Mistake(
            "center.connect(name, from: optional, to: Index.update, of: index)", leaveOutSender),
        Mistake(
            "center.connect(name, from: optional, to: Sidebar.clear, of: sidebar, on: .mainActor)",
            leaveOutSender),
        Mistake("center.removeObservers(named: name, from: optional)", "must be unwrapped"),
        Mistake("_ = center.observe(of: nil, for: .didSave) { _ in }", "leave it out for any"),
        Mistake("_ = center.observe(of: optional, for: .didSave) { _ in }", "leave it out for any"),
        Mistake(
            "_ = center.observe(of: optional, for: .didSave) { _ in await save() }",
            "leave it out for any"),
        Mistake(
            "center.observe(of: optional, for: .didSave, owner: index) { _, _ in await save() }",
            "leave it out for any"),
        Mistake(
            "center.observe(of: optional, for: .didSave, owner: index) { index, _ in index.clear() }",
            "leave it out for any"),
        Mistake(
            "_ = center.observe(of: Model.self, for: .didSave) { _ in }", "leave it out for any"),
        Mistake(
            "center.observe(for: .didSave, from: model, owner: index) { index, _ in index.clear() }",
            "the sender of messages is their subject, 'of:', before 'for:'"),
        Mistake(
            "_ = center.observe(for: .didSave, from: model) { _ in await save() }",
            "the sender of messages is their subject, 'of:', before 'for:'"),
        Mistake(
            "_ = center.observe(for: ModelDidSave.self) { _ in }", "for: .type(ModelDidChange.self)"
        ),
        Mistake(
            "_ = center.observe(for: ModelDidSave.self) { _ in await save() }",
            "for: .type(ModelDidChange.self)"),
        Mistake(
            "center.observe(for: ModelDidSave.self, owner: index) { _, _ in await save() }",
            "for: .type(ModelDidChange.self)"),
        Mistake(
            "center.observe(for: ModelDidSave.self, owner: index) { index, _ in index.clear() }",
            "for: .type(ModelDidChange.self)"),
        Mistake(
            "_ = center.observe(for: .didSave) { print($0.nam) }",
            "'ModelDidSave' has no member 'nam'"),
        Mistake(
            "center.observe(of: model, for: .didSave, owner: index) { _, message in print(message.nam) }",
            "'ModelDidSave' has no member 'nam'"),
        // The owner.
        Mistake("center.observe(name, owner: Value()) { _, _ in }", owners),
        Mistake("center.observe(name, owner: optional) { _, _ in }", owners),
        Mistake("center.observe(name, owner: optional) { _, _ in await save() }", owners),
        Mistake("center.removeObservers(owner: optional)", "must be unwrapped"),
        Mistake("center.observe(name, owner: Value(), on: .mainActor) { _, _ in }", owners),
        Mistake(
            "center.observe(name, owner: index) { $0.clear() }",
            "'@Sendable (Index, Notification) -> Void' expects 2 arguments, but 1 was used in closure body"
        ),
        Mistake(
            "center.observe(name, owner: index) { index.clear() }",
            "expects 2 arguments, which cannot be implicitly ignored"),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActor) { note in print(note.name) }",
            "(Sidebar, Notification) -> Void' expects 2 arguments, but 1 was used in closure body"),
        // The handler.
        Mistake(
            "center.observe(name, owner: index) { index, note in index.updat(note) }",
            "value of type 'Index' has no member 'updat'"),
        Mistake(
            "center.observe(name, owner: index) { index, note in print(note.userinfo) }",
            "value of type 'Notification' has no member 'userinfo'"),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActor) { sidebar, note in print(sidebar.titel) }",
            "value of type 'Sidebar' has no member 'titel'"),
        Mistake(
            "_ = center.observe(name) { (text: String) in print(text) }",
            "to expected argument type '@Sendable (Notification) -> Void'"),
        Mistake(
            "let value = Unsafe(); _ = center.observe(name) { _ in value.count += 1 }",
            "capture of 'value' with non-Sendable type 'Unsafe'"),
        Mistake("_ = center.observe(name, on: .main) { _ in await save() }", noTarget),
        Mistake("_ = center.observe(name, on: .mainActor) { _ in await save() }", noTarget),
        Mistake("center.observe(name, owner: index, on: .main) { _, _ in await save() }", noTarget),
        Mistake(
            "center.observe(name, owner: cache, on: .main, once: true) { cache, _ in await cache.clear() }",
            noTarget),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActor) { _, _ in await save() }",
            noTarget),
        Mistake(
            "center.observe(for: .didSave, owner: index, on: .main) { _, _ in await save() }",
            noTarget),
        Mistake(
            "_ = center.observe(for: .didSave, on: .mainActor) { _ in await save() }",
            noTarget),
        Mistake(
            "_ = center.observe(for: .didSave) { _ in try await saveOrFail() }",
            "invalid conversion from throwing function"),
        Mistake(
            "_ = center.observe(for: .didSave) { _ in try index.open(Notification(name: name)) }",
            "invalid conversion from throwing function"),
        Mistake("_ = center.observe(name) { _ in try await saveOrFail() }", noThrow),
        Mistake("_ = center.observe(name, once: true) { _ in try await saveOrFail() }", noThrow),
        Mistake("_ = center.observe(name, on: .main) { note in try index.open(note) }", noThrow),
        Mistake("center.observe(name, owner: index) { _, _ in try await saveOrFail() }", noThrow),
        Mistake(
            "center.observe(name, owner: index, once: true) { _, _ in try await saveOrFail() }",
            noThrow),
        Mistake(
            "center.observe(name, owner: index, on: .main) { _, _ in try await saveOrFail() }",
            noThrow),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActor) { sidebar, note in try sidebar.open(note) }",
            noThrow),
        // The target.
        Mistake(
            "_ = center.observe(name, on: queue) { _ in }",
            "to expected argument type 'DeliveryTarget'"),
        Mistake(
            "_ = center.observe(name, on: Thread.current) { _ in }",
            "to expected argument type 'DeliveryTarget'"),
        Mistake(
            "center.observe(name, owner: sidebar) { sidebar, note in sidebar.reload(note) }",
            "call to main actor-isolated instance method 'reload'"),
        Mistake(
            "center.observe(name, owner: sidebar, on: .main) { sidebar, note in sidebar.reload(note) }",
            "call to main actor-isolated instance method 'reload'"),
        Mistake(
            "center.observe(name, owner: cache, on: .main) { cache, _ in cache.clear() }",
            "call to actor-isolated instance method 'clear()'"),
        Mistake(
            "_ = center.observe(name, on: .main) { _ in sidebar.title = \"\" }",
            "can not be mutated from a Sendable closure"),
        Mistake(
            "_ = center.observe(name) { _ in sidebar.title = \"\"; await save() }",
            "can not be mutated from a Sendable closure"),
        Mistake(
            "center.observe(name, owner: cache, on: .main) { (cache: isolated Cache, note) in cache.update(note) }",
            "cannot convert value of type '@Sendable (isolated Cache, Notification) -> ()'"),
        Mistake(
            "center.observe(name, owner: sidebar) { @MainActor sidebar, note in sidebar.reload(note) }",
            "loses global actor 'MainActor'"),
        Mistake("_ = center.observe(name) { @Kitchen _ in }", "loses global actor 'Kitchen'"),
        Mistake(
            "center.observe(name, owner: stove) { @Kitchen stove, note in stove.heat(note) }",
            "loses global actor 'Kitchen'"),
        Mistake(
            "center.observe(name, owner: stove) { stove, note in stove.heat(note) }",
            "call to global actor 'Kitchen'-isolated instance method 'heat'"),
        // The order and the names of arguments.
        Mistake(
            "center.observe(name, on: .main, owner: index) { index, note in index.update(note) }",
            order),
        Mistake("center.observe(name, on: .main, owner: index) { _, _ in await save() }", order),
        Mistake("_ = center.observe(name, key: \"a\", once: true) { _ in }", order),
        Mistake("_ = center.observe(name, key: \"a\", once: true) { _ in await save() }", order),
        Mistake(
            "center.observe(name, owner: index, key: \"a\", once: true) { index, note in index.update(note) }",
            order),
        Mistake("_ = center.observe(name, once: true, on: .main) { _ in }", order),
        Mistake("_ = center.observe(name, once: true, on: .main) { _ in await save() }", order),
        Mistake(
            "center.observe(name, owner: index, once: true, on: .main) { index, note in index.update(note) }",
            order),
        Mistake(
            "center.observe(name, owner: sidebar, once: true, on: .mainActor) { sidebar, _ in sidebar.clear() }",
            order),
        Mistake(
            "center.observe(name, owner: index, from: model) { index, note in index.update(note) }",
            order),
        Mistake(
            "center.observe(name, owner: index, from: model, on: .main) { _, _ in await save() }",
            order),
        Mistake("_ = center.observe(name, queue: .main) { _ in }", target),
        Mistake("_ = center.observe(name, queue: operations) { _ in await save() }", target),
        Mistake("_ = center.observe(name, queue: queue) { note in print(note.name) }", target),
        Mistake(
            "_ = center.observe(name, from: model, queue: .global()) { _ in await save() }", target),
        Mistake(
            "center.observe(name, owner: index, queue: .main) { index, _ in index.clear() }", target
        ),
        Mistake("center.observe(name, owner: index, queue: nil) { _, _ in await save() }", target),
        Mistake(
            "center.observe(name, owner: index, queue: queue) { index, note in index.update(note) }",
            target),
        Mistake(
            "center.observe(name, owner: index, queue: DispatchQueue.main) { _, _ in await save() }",
            target),
        Mistake("center.connect(name, to: Index.update, of: index, queue: queue)", target),
        Mistake(
            "center.connect(name, from: model, to: Index.clear, of: index, queue: nil)", target),
        Mistake("center.connect(name, to: Sidebar.reload, of: sidebar, queue: .main)", target),
        Mistake("_ = center.observe(name, object: model) { _ in }", sender),
        Mistake("_ = center.observe(name, object: model) { _ in await save() }", sender),
        Mistake(
            "_ = center.observe(name, object: nil, queue: .main) { note in print(note.name) }",
            sender),
        Mistake(
            "center.observe(name, object: model, owner: index) { index, note in index.update(note) }",
            sender),
        Mistake(
            "center.observe(name, object: nil, owner: index, once: true) { _, _ in await save() }",
            sender),
        Mistake(
            "center.connect(name, object: model, to: Index.update, of: index, on: .main)", sender),
        Mistake("center.connect(name, object: nil, to: Sidebar.clear, of: sidebar)", sender),
        Mistake("center.post(name, from: model)", "write 'post(name: name, object: sender)'"),
        Mistake("center.post(name)", "write 'post(name: name, object: sender)'"),
        Mistake("center.post(name: name, from: model)", "write 'post(name: name, object: sender)'"),
        // The method.
        Mistake("center.connect(name, to: Index.find, of: index)", callItInAClosure),
        Mistake("center.connect(name, to: Index.open, of: index)", callItInAClosure + "IfItThrows"),
        Mistake(
            "center.connect(name, to: Sidebar.open, of: sidebar)", callItInAClosure + "IfItThrows"),
        Mistake(
            "}; extension Reloading { func attach(_ center: ObserverCenter, _ name: Notification.Name) "
                + "{ center.connect(name, to: Self.reload, of: self) }", callItInAClosure),
        Mistake("center.connect(name, to: Index.save, of: index)", "ambiguous use of 'save'"),
        Mistake(
            "center.connect(name, to: Sidebar.reload, of: sidebar, on: .main)", callItInAClosure),
        Mistake("center.connect(name, to: Stove.heat, of: stove)", callItInAClosure),
        Mistake(
            "center.connect(name, to: Cache.update, of: cache)",
            "call an actor's method in a closure"),
        Mistake(
            "center.connect(name, to: Index.updat, of: index)", "type 'Index' has no member 'updat'"
        ),
        Mistake(
            "center.connect(name, to: index.update, of: index)", "to: Sidebar.reload, of: sidebar"),
        Mistake(
            "center.connect(name, to: Index.update)", "missing argument for parameter 'of' in call"),
        // Messages, and their places.
        Mistake(
            "_ = center.observe(of: sidebar, for: .didMove, on: .main) { _ in }", insideThePost),
        Mistake(
            "center.observe(for: .didMove, owner: index, on: .main) { index, _ in index.clear() }",
            insideThePost),
        Mistake(
            "_ = center.observe(of: sidebar, for: .didMove) { _ in await save() }", insideThePost),
        Mistake(
            "center.observe(for: .didMove, owner: index) { _, _ in await save() }", insideThePost),
        Mistake(
            "_ = center.observe(of: model, for: .didSave, on: .main) { _ in await save() }",
            noTarget),
        Mistake(
            "_ = center.observe(for: .didSave, on: .mainActorAsync) { _ in await save() }", noTarget
        ),
        Mistake("center.post(ModelDidSave(), object: model)", "is about is its 'subject:'"),
        // Other words for a place.
        Mistake("_ = center.observe(name, on: .queue(queue)) { _ in }", queueKind),
        Mistake(
            "_ = center.observe(name, on: .queue(operations)) { _ in await save() }", queueKind),
        Mistake(
            "center.observe(name, owner: index, on: .queue(queue, batching: true)) { index, _ in index.clear() }",
            queueKind),
        Mistake("token.target = .queue(queue)", queueKind),
        Mistake("token.target = .mainActorAsync", "a token's target is '.mainAsync'"),
        Mistake("_ = center.observe(name, target: .main) { _ in }", target),
        Mistake(
            "center.observe(name, owner: index, target: .main) { _, _ in await save() }", target),
        Mistake(
            "center.observe(name, owner: sidebar, target: .mainActor) { sidebar, _ in sidebar.clear() }",
            target),
        Mistake("_ = center.observe(name, batching: true) { _ in }", batching),
        Mistake(
            "center.observe(name, owner: index, on: .dispatchQueue(queue), batching: true) { index, _ in index.clear() }",
            batching),
        Mistake(
            "center.observe(name, owner: index, batching: true) { _, _ in await save() }", batching),
        Mistake("_ = center.observe(name, sender: model) { _ in }", sender),
        Mistake(
            "center.observe(name, sender: model, owner: index) { _, _ in await save() }", sender),
        // A handler that awaits, with a target.
        Mistake("_ = center.observe(name, on: .mainActorAsync) { _ in await save() }", noTarget),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActorAsync) { sidebar, _ in sidebar.clear(); await save() }",
            noTarget),
        // A key before the place.
        Mistake("_ = center.observe(name, key: 1, on: .main) { _ in }", order),
        Mistake("_ = center.observe(name, key: 1, on: .main) { _ in await save() }", order),
        Mistake(
            "center.observe(name, owner: index, key: 1, on: .main) { index, _ in index.clear() }",
            order),
        Mistake(
            "center.observe(name, owner: sidebar, key: 1, on: .mainActor) { sidebar, _ in sidebar.clear() }",
            order),
        Mistake(
            "center.observe(name, owner: sidebar, key: 1, on: .mainActor) { _, _ in await save() }",
            order),
        // An object's method, bound to the object.
        Mistake("center.connect(name, to: sidebar.clear, of: sidebar)", methodOfType),
        Mistake("center.connect(name, to: sidebar.reload, of: sidebar)", methodOfType),
        Mistake("center.connect(name, to: index.clear, of: index)", methodOfType),
        // Posting queues and sequences.
        Mistake(
            "_ = PostingQueue(notificationCenter: center)",
            "give a dispatch queue: PostingQueue(notificationCenter:queue:)", in: "async"),
        Mistake(
            "PostingQueue.main.post(name: name)",
            "enqueue(Notification(name: name), postingStyle: .asap)"
        ),
        Mistake(
            "PostingQueue.main.post(Notification(name: name))",
            "enqueue(Notification(name: name), postingStyle: .asap)"),
        Mistake(
            "_ = center.notifications(named: name, bufferSize: 10)",
            "a bound is 'buffering: .newest(10)'"),
        Mistake(
            "_ = center.notifications(named: name, making: { _ in Unsafe() })",
            "type 'Unsafe' does not conform to the 'Sendable' protocol"),
        // Names of earlier versions.
        Mistake(
            "token.stop()",
            "renamed to 'cancel()'"),
        Mistake(
            "token.stopAndWait()",
            "renamed to 'cancelAndWait()'"),
        Mistake(
            "token.target = .poster",
            "renamed to 'postingThread'"),
        Mistake(
            "_ = PostingQueue(center: center)",
            "renamed to 'init(notificationCenter:)'"),
        Mistake(
            "_ = PostingQueue(center: center, queue: queue)",
            "renamed to 'init(notificationCenter:queue:)'"),
        Mistake(
            "_ = center.hasObservers(of: name, from: model)",
            "renamed to 'hasObservers(named:from:)'"),
        Mistake(
            "_ = center.notifications(of: name, owner: index)",
            "renamed to 'notifications(named:from:owner:buffering:)'"),
        Mistake(
            "_ = [ObservationSequence<Notification>]()",
            "renamed to 'NotificationSequence'"),
        Mistake(
            "let all: [any Connectable] = [center]; _ = all",
            "renamed to 'NotifyingCenter'"),
        Mistake(
            "let table: [NotificationMethod<Index>] = []; _ = table",
            "(Object) -> (Notification) -> Void'"),
        Mistake(
            "let table: [MainActorNotificationMethod<Sidebar>] = []; _ = table",
            "(Object) -> @MainActor (Notification) -> Void'"),
        Mistake(
            "_ = NotificationObserver(center: center)",
            "a center makes the token"),
        Mistake(
            "center.addObserver(index, action: Index.update, name: name, object: nil)",
            "'connect(name, from: sender, to: Sidebar.changed, of: self)'"),
        Mistake(
            "_ = RunLoopThread(name: \"work\", body: {})",
            "an observer on '.thread(thread)' does the work"),
        Mistake(
            "try! Trace.start(writingTo: URL(filePath: \"trace\"))",
            "renamed to 'start(to:limit:)'"),
        Mistake(
            "_ = try! Trace.recording(to: URL(filePath: \"trace\")) { 1 }",
            "renamed to 'record(to:_:)'"),
        // The sender, or the backlog, behind the place.
        Mistake(
            "center.observe(name, owner: index, on: .main, from: model) { index, _ in index.clear() }",
            order),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActor, from: model) { sidebar, _ in sidebar.clear() }",
            order),
        Mistake("_ = center.observe(name, on: .main, from: model) { _ in }", order),
        Mistake(
            "center.observe(name, owner: index, on: .main, backlog: .newest(1), key: 1) { index, _ in index.clear() }",
            order),
        Mistake(
            "center.observe(name, owner: sidebar, on: .mainActor, once: true, backlog: .newest(1), key: 1) { sidebar, _ in sidebar.clear() }",
            order),
        Mistake(
            "_ = center.observe(name, model) { note in }",
            "the sender is 'from:', the owner is 'owner:'"),
        Mistake(
            "_ = center.hasObservers(named: name, from: nil)", "leave out 'from:' for any sender"),
        Mistake(
            "center.addObserver(forName: name, owner: index) { index, _ in index.clear() }",
            "'observe(name, from: sender, owner: owner)'"),
        Mistake(
            "_ = center.notifications(named: name, object: model, owner: index)",
            "the sender is 'from:', before 'owner:'"),
        Mistake(
            "_ = center.observe(name, from: ValueSender(model)) { _ in }", "pass the object itself"),
        Mistake("NotificationCenter.default.removeObserver(token)", "by its 'cancel()'"),
        Mistake("_ = Audit(center)", "'center.audit()'"),
        // The method of `connect`.
        Mistake(
            "_ = { final class View: Sendable { func redo() {}; init(_ c: ObserverCenter, _ n: Notification.Name) { c.connect(n, to: Self.redo, of: self) } } }",
            "name the class instead of 'Self'"),
        Mistake("center.connect(name, Index.clear, of: index)", "the method is 'to:'"),
        Mistake("center.connect(name: name, to: Index.clear, of: index)", "the name has no label"),
        Mistake(
            "center.connect(name, to: { index, note in index.update(note) }, of: index)",
            "'connect' takes a method"),
        // What takes no target, no bound, or another kind of message.
        Mistake(
            "_ = center.messages(of: sidebar, for: .didMove)", "a sequence is of async messages"),
        Mistake(
            "center.observe(of: sidebar, for: .didMove, owner: sidebar, backlog: .newest(1)) { sidebar, _ in sidebar.clear() }",
            "a main-actor message never waits"),
        Mistake(
            "_ = Task(owner: index, on: .main) { index.clear() }", "a task runs where it is started"
        ),
        Mistake(
            "OwnerLifetime.whenEnded(index, on: .main) {}",
            "on the thread that releases the owner last"),
        Mistake(
            "\(stream).observe(owner: index, once: true) { index, _ in index.clear() }",
            "'await sequence.first(where:)'"),
        Mistake(
            "do { try Trace.record(\"trace.json\") {} } catch {}", "the file is 'to: URL(filePath:"),
        // Words of other calls and of other libraries.
        Mistake("_ = center.observe(name, on: .actor(cache)) { _ in }", ownActor),
        Mistake("token.target = .actor(cache)", ownActor),
        Mistake("_ = center.observe(name, thread: Thread.current) { _ in }", target),
        Mistake(
            "center.observe(name, owner: index, thread: Thread.current) { _, _ in await save() }",
            target),
        Mistake("_ = center.observe(name, buffering: .newest(1)) { _ in }", backlog),
        Mistake(
            "center.observe(name, owner: index, buffering: .newest(1)) { _, _ in await save() }",
            backlog),
        Mistake("center.observe(name, for: index) { index, _ in index.clear() }", ownerLabel),
        Mistake("center.observe(name, observer: index) { _, _ in await save() }", ownerLabel),
        Mistake("center.observe(owner: index, name) { index, _ in index.clear() }", ownerLabel),
        Mistake(
            "center.post(name: name, sender: model)", "write 'post(name: name, object: sender)'"),
        Mistake(
            "center.post(Notification(name: name), object: model)",
            "a sender is given in the Notification"),
        Mistake("center.post(ModelDidSave(), from: model)", "is about is its 'subject:'"),
        Mistake(
            "_ = center.addObserver(of: model, for: ModelDidSave.self) { _ in }",
            "for: .type(ModelDidChange.self)"),
        Mistake(
            "_ = center.messages(of: model, for: ModelDidSave.self)",
            "for: .type(ModelDidChange.self)"),
        Mistake("_ = center.messages(ModelDidSave.self)", "for: .type(ModelDidChange.self)"),
        // Loops over sequences, and tasks of an owner.
        Mistake("\(stream).observe(owner: index) { _ in }", ownerAndElement),
        Mistake("\(stream).observe { _ in await save() }", ownerAndElement),
        Mistake(
            "\(stream).observe(owner: index) { _, _ in try await saveOrFail() }", noThrow),
        Mistake("\(stream).observe(owner: optional) { _, _ in }", owners),
        Mistake(
            "\(stream).observe(owner: index, on: .main) { index, _ in index.clear() }",
            noTargetOfLoop),
        Mistake(
            "\(stream).observe(owner: sidebar, on: .mainActor) { sidebar, _ in sidebar.clear() }",
            noTargetOfLoop),
        Mistake("Task(owner: optional) { await save() }", owners),
        Mistake(
            "\(stream).observe(owner: index) { value, index in index.find(\"\\(value + 1)\") }",
            "the handler takes the owner first: '{ owner, element in … }'"),
        Mistake(
            "Task.detached(owner: index) { await save() }",
            "a task that ends with an object is 'Task(owner: object) { … }'"),
        // The number of a handler's parameters.
        Mistake(
            "center.observe(name, from: model, owner: index, on: .main) { note in print(note.name) }",
            tooFewParameters),
        Mistake(
            "center.observe(name, from: model, owner: sidebar, on: .mainActor) { note in print(note.name) }",
            tooFewParameters),
        Mistake(
            "_ = center.observe(name, from: model) { index, note in print(note) }",
            tooManyParameters),
        Mistake(
            "_ = center.observe(of: model, for: .didSave) { index, message in await save() }",
            tooManyParameters),
        Mistake(
            "_ = center.observe(of: sidebar, for: .didMove) { index, message in print(message) }",
            tooManyParameters),
        // An owner or an object by another label, or in another place.
        Mistake("center.observe(name, of: index) { index, _ in index.clear() }", ownerLabel),
        Mistake(
            "center.observe(name, once: true, owner: index) { index, _ in index.clear() }", order),
        Mistake(
            "center.observe(name, from: model, on: .main, once: true, owner: index) { _, _ in await save() }",
            order),
        Mistake(
            "center.observe(name, on: .main, from: model, owner: index) { index, _ in index.clear() }",
            order),
        Mistake(
            "center.observe(of: model, owner: index, for: .didSave) { index, _ in index.clear() }",
            orderOfMessages),
        Mistake(
            "center.observe(owner: index, of: model, for: .didSave) { _, _ in await save() }",
            orderOfMessages),
        Mistake("center.connect(name, of: index, to: Index.update)", connection),
        Mistake("center.connect(model, name, index, Index.update)", connection),
        Mistake(
            "center.connect(name, to: Index.update, of: Optional(index))",
            "'of:' takes an object that is not optional: unwrap it first"),
        // Foundation's label of a sequence's sender, and a subject that is optional.
        Mistake(
            "_ = NotificationCenter.default.notifications(named: name, object: nil)",
            "the sender is 'from:', before 'owner:'; leave it out for any"),
        Mistake(
            "_ = center.notifications(named: name, object: model, buffering: .newest(1))",
            "the sender is 'from:', before 'owner:'; leave it out for any"),
        Mistake(
            "_ = center.messages(of: optional, for: .didSave)",
            "'of:' takes the subject that the messages are about, not optional"),
        // A label that is no label of Tether, in a call with a trailing closure.
        Mistake(
            "center.observe(name, owner: index, times: 1) { index, _ in index.clear() }",
            "extra argument 'times' in call"),
        Mistake(
            "center.observe(name, owner: index, using: { index, _ in index.clear() })",
            "extraneous argument label 'using:' in call"),
        Mistake(
            "center.observe(name, by: index) { index, _ in index.clear() }",
            "extraneous argument label 'by:' in call"),
        Mistake("center.observe(name, index) { index, _ in index.clear() }", ownerLabel),
        Mistake(
            "\(stream).observe(by: index) { index, _ in index.clear() }", "expected 'owner:_:'"),
        Mistake(
            "center.observe(name, owner: index, on: .dispatchQueue(queue, batched: true)) { _, _ in }",
            "extra argument 'batched' in call"),
        Mistake(
            "center.observe(name, owner: index, on: .operationQueue(operations, serial: true)) { _, _ in }",
            "extra argument 'serial' in call"),
        // A sender without a label, a name with one, and a label that is there twice.
        Mistake(
            "center.observe(name, model, owner: index) { index, _ in index.clear() }",
            "missing argument labels 'from:once:key:"),
        Mistake(
            "center.observe(name, model, owner: index) { _, _ in await save() }",
            "missing argument labels 'from:once:key:"),
        Mistake(
            "center.observe(for: .changed, owner: index) { index, _ in index.clear() }",
            "type 'any Any.Type' has no member 'changed'"),
        Mistake(
            "center.observe(for: .changed, owner: index) { _, _ in await save() }",
            "type 'any Any.Type' has no member 'changed'"),
        Mistake(
            "center.observe(name, owner: index, owner: index) { index, _ in index.clear() }",
            "extra argument 'owner' in call"),
        Mistake(
            "center.observe(name, owner: index, owner: index) { _, _ in await save() }",
            "extra argument 'owner' in call"),
        Mistake("token.mute { }", "renamed to 'muted(keepingNewest:_:)'"),
        Mistake("token.muted(true) { }", "renamed to 'muted(keepingNewest:_:)'"),
        Mistake("center.removeObservers(name)", "renamed to 'removeObservers(named:)'"),
        // A backlog before the place.
        Mistake("_ = center.observe(name, backlog: .newest(1), on: .main) { _ in }", order),
        Mistake(
            "center.observe(name, owner: index, backlog: .newest(1), on: .main) { _, _ in await save() }",
            order),
        Mistake(
            "center.observe(name, owner: sidebar, backlog: .newest(1), on: .mainActor) { sidebar, _ in sidebar.clear() }",
            order),
        // Subjects of messages.
        Mistake(
            "center.observe(for: .didSave, of: model, owner: index) { index, _ in index.clear() }",
            "the sender of messages is their subject, 'of:', before 'for:'"),
        Mistake("center.post(ModelDidSave(), subject: index)", messageSubject),
        Mistake("center.post(ModelDidSave(), subject: optional)", messageSubject),
        Mistake(
            "center.post(SidebarDidMove(), subject: index)", messageSubject, in: "@MainActor func"),
        Mistake(
            "NotificationCenter.default.observe(of: model, for: .didSave, owner: index) { _, _ in await save() }",
            "messages are observed on an ObserverCenter"),
        Mistake(
            "NotificationCenter.default.observe(for: .didMove, owner: index) { index, _ in index.clear() }",
            "messages are observed on an ObserverCenter"),
        // Words of Foundation, of RxSwift and of Combine.
        Mistake("token.invalidate()", "renamed to 'cancel()'"),
        Mistake("token.dispose()", "renamed to 'cancel()'"),
        Mistake("_ = RunLoopThread { }", "an observer on '.thread(thread)' does the work"),
        // Foundation's words.
        Mistake(
            "center.addObserver(index, selector: \"update:\", name: name, object: nil)",
            "there are no selectors here: 'connect(name"),
        Mistake("center.removeObservers()", "missing argument for parameter"),
        Mistake(
            "center.post(.init(\"name\"), object: nil)", "missing argument label 'name:' in call"),
        Mistake(
            "_ = center.observe(\"name\") { _ in }", "to expected argument type 'Notification.Name'"
        ),
    ]

    static let mistakesInTests = [
        Mistake("_ = findLeaks(timeout: 2) { }", limits),
        Mistake("_ = findLeaks(within: .seconds(2)) { }", limits),
        Mistake("verifyNoLeaks(timeout: 2) { }", limits),
        Mistake("verifyNoLeaks(within: .seconds(2)) { }", limits),
        Mistake("let _: NoLeaksTrait = .verifiesNoLeaks(timeout: .seconds(2))", limits),
        Mistake("let _: NoLeaksTrait = .verifiesNoLeaks(within: .seconds(2))", limits),
        Mistake("let _: NoLeaksTrait = .verifiesNoLeaks()", "write '.verifiesNoLeaks' alone"),
        Mistake("let _: NoLeaksTrait = .verifyNoLeaks", "renamed to 'verifiesNoLeaks'"),
        Mistake("_ = findLeaks(of: model)", "findLeaks { let sidebar = track(Sidebar()) … }"),
        Mistake("verifyNoLeaks(of: model)", "verifyNoLeaks { let sidebar = track(Sidebar()) … }"),
        Mistake("verifyNoLeaks(model)", "verifyNoLeaks { let sidebar = track(Sidebar()) … }"),
        Mistake("_ = findLeaks(model)", "findLeaks { let sidebar = track(Sidebar()) … }"),
        Mistake(
            "_ = findLeaks(of: model) { }", "findLeaks { let sidebar = track(Sidebar()) … }"),
        Mistake(
            "_ = NotificationRecorder(name)", "write 'NotificationRecorder(center, name)'"),
        Mistake(
            "_ = NotificationRecorder(ObserverCenter())",
            "write 'NotificationRecorder(center, name)', or 'nil' for any"),
        Mistake(
            "_ = findLeaks { let model = track(Model()); return model }",
            "cannot convert value of type 'Model' to closure result type 'Void'"),
        Mistake("verifyNoLeaks { await save() }", "is not marked with 'await'", in: "async"),
    ]

    /// The compiler's message for each of some programs.
    private func diagnostics(
        of mistakes: [Mistake], preamble: String = preamble, parameters: String = parameters,
        mode: Int = 6,
        options: [String] = [], importingTests: Bool = false
    ) throws -> [String] {
        let functions = mistakes.enumerated().map { index, mistake in
            let (before, after) =
                mistake.function == "async" ? ("func", " async") : (mistake.function, "")
            return """
                #sourceLocation(file: "Programs.swift", line: \(1000 + index))
                \(before) use\(index)(\(parameters))\(after) { \(mistake.program) }

                """
        }
        let text = try Compiler(
            mode: mode, options: options, importingTests: importingTests
        ).diagnostics(
            of: preamble + functions.joined() + "#sourceLocation()\n")
        #expect(!text.contains("Snippet.swift:"), "\(text)")
        for silence in [
            "failed to produce diagnostic", "reasonable time", "please submit a bug report",
        ] {
            #expect(!text.contains(silence), "\(text)")
        }
        return mistakes.indices.map { index in
            text.split(separator: "\n").filter { $0.hasPrefix("Programs.swift:\(1000 + index):") }
                .joined(separator: "\n")
        }
    }

    private func expect(_ mistakes: [Mistake], in texts: [String]) {
        for (mistake, text) in zip(mistakes, texts) {
            #expect(text.contains(mistake.sentence), "\(mistake.program)\n\(text)")
        }
    }

    @Test func `X2 M5 P1 each mistake is reported where it is, in words that lead to the remedy`()
        throws
    {
        let mistakes = WrongProgramTests.mistakes
        #expect(mistakes.count > 40)
        expect(mistakes, in: try diagnostics(of: mistakes))
    }

    @Test func `X2 mistakes with leak checks are reported in words that lead to the remedy`() throws
    {
        let preamble = """
            import Foundation
            import Tether
            import TetherVerification

            final class Model: Sendable {}

            let name = Notification.Name("name")

            func save() async {}

            """
        let mistakes = WrongProgramTests.mistakesInTests
        expect(
            mistakes,
            in: try diagnostics(
                of: mistakes, preamble: preamble, parameters: "_ model: Model", importingTests: true
            ))
    }

    @Test
    func
        `P1 the remedies of methods and global actors compile, and a method's result is discarded`()
        throws
    {
        let right = [
            "center.connect(name, to: Index.isEmpty, of: index)",
            "center.connect(name, to: Index.contains, of: index)",
            "center.connect(name, to: Index.save(_:), of: index)",
            "center.observe(name, owner: stove) { @Kitchen stove, note async in stove.heat(note) }",
            "}; extension Reloading { func attach(_ center: ObserverCenter, _ name: Notification.Name) "
                + "{ center.observe(name, owner: self, on: .mainActor) { $0.reload($1) } }",
        ].map { Mistake($0, "") }
        #expect(try diagnostics(of: right) == right.map { _ in "" })
    }

    @Test
    func
        `X2 M5 P1 each mistake is reported in Swift 5 mode, too, and a method there is to be called in a closure`()
        throws
    {
        let mistakes = WrongProgramTests.mistakes.compactMap { mistake -> Mistake? in
            // There, `Sendable` and `await` are checked only on request.
            if mistake.program.hasPrefix("let value") || mistake.function == "async" { return nil }
            if mistake.sentence.contains("does not conform to the 'Sendable'") { return nil }
            // No method is there at all.
            if mistake.sentence.hasPrefix("missing argument for parameter 'of'") { return nil }
            return mistake
        }
        let right = [
            "center.connect(name, to: Index.update, of: index)",
            "center.connect(name, to: Sidebar.clear, of: sidebar)",
        ].map { Mistake($0, WrongProgramTests.callItInAClosure) }
        expect(mistakes + right, in: try diagnostics(of: mistakes + right, mode: 5))
    }

    /// With the main actor as the default isolation (SE-0466).
    @Test
    func
        `P1 P3 mistakes are reported with default isolation, too, and names of an extension need no more`()
        throws
    {
        let preamble = """
            import Foundation
            import Tether

            extension Notification.Name { static let modelDidChange = Notification.Name("modelDidChange") }

            final class Model {}
            final class Sidebar {
                var title = ""
                func reload(_ note: Notification) {}
                func clear() {}
            }

            """
        let parameters =
            "_ center: ObserverCenter, _ model: Model, _ optional: Model?, _ sidebar: Sidebar"
        let right = [
            "center.observe(.modelDidChange, from: model, owner: sidebar, on: .mainActor) { sidebar, note in sidebar.reload(note) }",
            "center.connect(.modelDidChange, from: model, to: Sidebar.clear, of: sidebar)",
            "_ = center.observe(.modelDidChange, on: .mainActor) { _ in sidebar.title = \"\" }",
        ]
        let wrong = [
            Mistake(
                "center.observe(.modelDidChange, owner: sidebar) { sidebar, note in sidebar.reload(note) }",
                "call to main actor-isolated instance method 'reload'"),
            Mistake(
                "center.connect(.modelDidChange, to: Sidebar.clear, of: sidebar, on: .main)",
                WrongProgramTests.callItInAClosure),
            Mistake(
                "_ = center.observe(.modelDidChange, from: optional) { _ in }",
                WrongProgramTests.leaveOutSender),
            Mistake(
                "center.observe(.modelDidChange, owner: optional) { _, _ in }",
                WrongProgramTests.owners),
        ]
        let texts = try diagnostics(
            of: right.map { Mistake($0, "") } + wrong, preamble: preamble, parameters: parameters,
            options: ["-default-isolation", "MainActor"])
        #expect(texts.prefix(right.count) == right.map { _ in "" }[...])
        expect(wrong, in: Array(texts.dropFirst(right.count)))
    }
}

#endif
