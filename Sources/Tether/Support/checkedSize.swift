#if DEBUG
/// Up to how many elements structures look at all of theirs, to check themselves after each change in debug builds.
let checkedSize = 32
#endif
