import CoreFoundation
import Foundation

/// How long the calling thread has run.
public func processorTime() -> Duration {
    var time = timespec()
    // SAFETY: the call writes the time and nothing else.
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// Whether the build has a sanitizer, of whose time nobody promises anything.
public var isSanitized: Bool {
    // SAFETY: only whether there are such functions is asked.
    unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
