package import Foundation

/// What a name that is observed is called.
package func describeName(_ name: Notification.Name?) -> String { name?.rawValue ?? "any name" }
