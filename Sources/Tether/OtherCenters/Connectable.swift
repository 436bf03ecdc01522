/// A source that methods and closures can be connected to: every center, and an observer that is kept as a property.
///
/// ```swift
/// center.connect(.modelDidClose, to: Sidebar.clear, of: self)
/// center.connect(.modelDidChange, to: catalog) { $0.reload() }
/// // In place of the handler that it had:
/// observer.connect(.modelDidClose, to: Sidebar.clear, of: sidebar)
/// ```
public protocol Connectable: AnyObject, Sendable {}
