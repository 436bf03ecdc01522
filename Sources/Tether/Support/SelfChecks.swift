#if DEBUG
/// The most elements that a structure checks after each change, in debug builds.
///
/// A structure with more elements skips its `checkInvariants()`, so a long list stays fast. Small
/// structures reach the same states.
let checkedSize = 32
#endif
