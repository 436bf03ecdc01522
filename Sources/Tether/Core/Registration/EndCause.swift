/// Why a registration ends, in the words of a trace (L5).
enum EndCause: String {
    case stopped = "it was stopped or replaced"
    case usedUp = "it was called once"
    case deliveryDropped = "its one delivery was dropped"
    /// Whose list has let go of it.
    case ownerEnded = "its owner ends"
    case senderEnded = "its sender or center ended"
}
