import Foundation
import Tether

// A library with its own copy of Tether. Callers pass objects of classes unknown to the library.

extension Notification.Name {
    fileprivate static let sample = Notification.Name("Plugin.sample")
}

private let center = ObserverCenter()

/// Calls a closure in its `deinit`.
private final class Ending: Sendable {
    private let report: @convention(c) (UnsafePointer<CChar>) -> Void
    private let word: String

    init(_ word: String, _ report: @escaping @convention(c) (UnsafePointer<CChar>) -> Void) {
        self.report = report
        self.word = word
    }

    func touch() {}

    deinit { unsafe report(word) }
}

/// Observes for an owner.
@_cdecl("plugin_attach")
public func attach(
    _ owner: UnsafeRawPointer, _ report: @escaping @convention(c) (UnsafePointer<CChar>) -> Void
) {
    let owner = unsafe Unmanaged<AnyObject>.fromOpaque(owner).takeUnretainedValue()
    let capture = Ending("observer ended", report)
    center.observe(.sample, owner: owner) { _, _ in capture.touch() }
}

/// Observes a sender, with a retained token.
@_cdecl("plugin_observe")
public func observe(
    _ sender: UnsafeRawPointer, _ report: @escaping @convention(c) (UnsafePointer<CChar>) -> Void
) {
    let sender = unsafe Unmanaged<AnyObject>.fromOpaque(sender).takeUnretainedValue()
    let capture = Ending("sender's observer ended", report)
    let token = center.observe(.sample, from: sender) { _ in
        capture.touch()
        unsafe report("post delivered")
    }
    _ = unsafe Unmanaged.passRetained(token)
}

@_cdecl("plugin_post")
public func post(_ sender: UnsafeRawPointer) {
    center.post(
        name: .sample, object: unsafe Unmanaged<AnyObject>.fromOpaque(sender).takeUnretainedValue())
}

/// How many observers there are.
@_cdecl("plugin_count")
public func count() -> Int { center.audit().count }

@_cdecl("plugin_is_exact")
public func isExact() -> Bool { OwnerLifetime.isExact }
