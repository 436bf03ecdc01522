import Testing

/// All races, one at a time, so that the contestants of one meet as often as they can.
@Suite(.ownThread, .serialized) enum Races {}
