/// What methods and closures can be connected to: every center, and an observer that is kept as a property.
///
/// ```swift
/// center.connect(.modelDidClose, to: Sidebar.clear, of: self)
/// center.connect(.modelDidChange, to: catalog) { $0.reload() }
/// observer.connect(.modelDidClose, to: Sidebar.clear, of: sidebar)        // in place of the handler that it had
/// ```
public protocol Connectable: AnyObject, Sendable {}
