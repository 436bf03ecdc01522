import Testing

/// All races, serially, so that the contestants meet as often as possible.
@Suite(.ownThread, .serialized) enum Races {}
