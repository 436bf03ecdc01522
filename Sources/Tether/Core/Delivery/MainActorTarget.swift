/// The main actor as a target: a type of its own, so that it takes handlers isolated to the main actor.
///
/// ```swift
/// center.observe(.modelDidChange, owner: self, on: .mainActor) {
///     sidebar, _ in
///     sidebar.title = "Changed"
/// }
/// ```
public struct MainActorTarget: Sendable {
    /// The main actor. Delivers as `DeliveryTarget.main` does ([D3](doc:Contract#D3), [P1](doc:Contract#P1)).
    public static let mainActor = MainActorTarget()
}
