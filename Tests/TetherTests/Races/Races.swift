import Testing

/// Races of threads, serially, so that the contestants meet as often as possible. They begin before
/// the other tests.
@Suite(.ownThread(.first), .serialized) enum Races {}

/// Races behind the other tests, serially: those of tasks, which would wait for the tasks of other
/// tests, and those of memory orders, which need two processors for themselves.
@Suite(.ownThread(.last), .serialized) enum LateRaces {}
