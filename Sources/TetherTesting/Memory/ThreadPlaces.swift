internal import CProcessMemory
internal import Foundation
internal import Tether

/// The stacks of the threads and their own data. See GlibcThreads.c for the layouts.
///
/// A word on a stack counts if it is above the end of the stack: the calling thread's end is known,
/// and that of a waiting thread is told by the kernel (`/proc/self/task/NUMBER/syscall`, proc(5)).
/// Such a word may still be stale, so a stack is never more than a guess.
struct ThreadPlaces {
    /// A frame of the calling thread.
    private struct Frame {
        let code: HiddenAddress
        let end: HiddenAddress
    }

    private let threads: [MemoryIndex.Thread]
    private let ownNumber = Int(tether_current_thread_number())
    /// The bytes before and after a descriptor that belong to its thread.
    private let extent: (before: Int, after: Int)
    /// The outermost frame of Tether on the calling thread's stack, and the frames that called it.
    private let callers: [Frame]

    init(_ index: MemoryIndex) {
        threads = index.threads
        var before = 0
        var after = 0
        unsafe tether_thread_extent(&before, &after)
        extent = (before, after)
        callers = ThreadPlaces.readCallers()
    }

    private static func readCallers() -> [Frame] {
        let limit = 128
        // SAFETY: at most `limit` frames are written.
        let frames = unsafe [tether_frame](unsafeUninitializedCapacity: limit) { buffer, count in
            count = unsafe tether_frames(buffer.baseAddress!, limit)
        }
        // A frame that returns to Tether is of a function that Tether calls.
        let last = frames.lastIndex { frame in
            Symbol.at(HiddenAddress(complement: frame.return_address))?.isOfTether == true
        }
        guard let last else { return [] }
        // The function that a frame returns to has the next frame.
        return zip(frames[last...], frames[(last + 1)...]).map { frame, next in
            Frame(
                code: HiddenAddress(complement: frame.return_address),
                end: HiddenAddress(complement: next.end))
        }
    }

    enum Place {
        /// A thread's variables and its thread-specific values.
        case data(String)
        /// A local variable, perhaps.
        case stack(String)
    }

    /// The place of a word that is in no chunk and in no image; `nil` if nothing there is in use.
    func place(_ word: HiddenAddress, in region: MemoryIndex.Region) -> Place? {
        if let thread = threads.first(where: { owns($0, word) }) { return .data(name(thread)) }
        if region.isMainStack {
            return isInUse(word, on: Int(getpid()), in: region)
                ? .stack(function(of: word) ?? "the main thread") : nil
        }
        let thread = threads.first { region.contains($0.descriptor) && word < $0.descriptor }
        guard let thread, isInUse(word, on: thread.number, in: region) else { return nil }
        let own = thread.number == ownNumber ? function(of: word) : nil
        return .stack(own ?? name(thread))
    }

    private func owns(_ thread: MemoryIndex.Thread, _ word: HiddenAddress) -> Bool {
        word >= thread.descriptor + -extent.before && word < thread.descriptor + extent.after
    }

    /// Whether a word is above the end of a stack. The end of a running thread is unknown.
    private func isInUse(
        _ word: HiddenAddress, on number: Int, in region: MemoryIndex.Region
    ) -> Bool {
        if number == ownNumber {
            guard let first = callers.first else { return false }
            return word >= first.end
        }
        guard let end = ThreadPlaces.stackEnd(number) else { return true }
        return word >= end
    }

    /// The calling thread's function whose frame has a word.
    private func function(of word: HiddenAddress) -> String? {
        callers.first { word < $0.end }.flatMap { Symbol.at($0.code)?.code }
    }

    private func name(_ thread: MemoryIndex.Thread) -> String {
        if thread.number == Int(getpid()) { return "the main thread" }
        guard let name = ThreadPlaces.line(of: "/proc/self/task/\(thread.number)/comm") else {
            return "a thread"
        }
        return "the thread `\(name)`"
    }

    /// The stack pointer of a waiting thread, the last but one field.
    private static func stackEnd(_ number: Int) -> HiddenAddress? {
        let fields = line(of: "/proc/self/task/\(number)/syscall")?.split(separator: " ") ?? []
        guard fields.count >= 3, let end = UInt(fields[fields.count - 2].dropFirst(2), radix: 16)
        else { return nil }
        return HiddenAddress(end)
    }

    private static func line(of path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard unsafe fgets(&line, 512, file) != nil else { return nil }
        return line.text.trimmingCharacters(in: .newlines)
    }
}
