internal import Foundation
internal import Tether

/// What is known of tasks of Swift.
///
/// - The first words of a task, of a part of its memory and of another job are in variables that
///   the runtime has for debuggers (`Concurrency/Debug.h`).
/// - A task has the function that resumes it and the async context of that function in its eighth
///   and ninth word (`ABI/Task.h`). A context begins with the context of the caller and the function
///   that resumes the caller.
/// - The function and the context of a task's closure stand in the task, before its first async
///   context (`AsyncContextPrefix`). The task keeps the context until its end.
/// - A part of a task's memory is its first word, the next part, the capacity and the bytes in use
///   (`StackAllocator.h`). The first part is in the task itself.
///
/// Without the variables there are no tasks here: such memory has no known kind.
enum SwiftTasks {
    private static func variable(_ name: String) -> UInt? {
        // SAFETY: the address of a variable, which is read as memory.
        guard let symbol = unsafe dlsym(nil, name) else { return nil }
        return Memory.load(UInt.self, at: UInt(bitPattern: symbol))
    }

    private static let task = variable("_swift_concurrency_debug_asyncTaskMetadata")
    private static let slab = variable("_swift_concurrency_debug_asyncTaskSlabMetadata")
    private static let job = variable("_swift_concurrency_debug_jobMetadata")

    static func isTask(_ firstWord: UInt) -> Bool { firstWord == task }

    static func isSlab(_ firstWord: UInt) -> Bool { firstWord == slab }

    static func isJob(_ firstWord: UInt) -> Bool { firstWord == job }

    /// Whether a place in a task, or in a part of its memory, is behind all allocated memory.
    static func isUnused(
        _ place: HiddenAddress, in chunk: HiddenAddress, _ size: Int
    ) -> Bool {
        guard let slab, let bytes = Memory.prefix(at: chunk.address, count: min(size, 1024)) else {
            return false
        }
        let starts = stride(from: 0, to: max(0, bytes.count - 32), by: 8)
        guard let start = starts.first(where: { bytes.load(UInt.self, at: $0) == slab }),
            place - chunk >= start, let capacity = bytes.load(UInt32.self, at: start + 16),
            let used = bytes.load(UInt32.self, at: start + 20), used <= capacity,
            Int(capacity) <= size
        else { return false }
        return place - chunk >= start + 32 + Int(used)
    }

    /// Whether a place in a task is the reference to its closure's context: behind the function, and
    /// before the first async context, which has no caller and returns to the runtime. Any other
    /// word in the task may be left over.
    static func isClosure(_ place: HiddenAddress) -> Bool {
        guard let function = Symbol.at(word: place.word(-1)), function.isOfSwift,
            function.offset == 0, place.word(2) == 0, let end = Symbol.at(word: place.word(3))
        else { return false }
        return end.isOfRuntime
    }

    /// The type of the result that begins at a place, if the task has returned one. A future is the
    /// list of the tasks that wait for it, which is 1 after a success, then the type, an error, and
    /// the result. It stands behind a task's fixed part (`AsyncTask::FutureFragment`).
    static func resultType(at place: HiddenAddress, in task: HiddenAddress) -> RuntimeType? {
        let farthest = 320
        guard place - task < farthest, place.word(-3) == 1, let type = place.word(-2) else {
            return nil
        }
        return RuntimeType(boxed: type)
    }

    // MARK: The calls of a waiting task

    struct Calls {
        /// The library's function in which the program waits, such as
        /// "`Task.sleep(for:tolerance:clock:)`".
        var waits: String?
        /// The program's functions, innermost first.
        var functions: [String] = []

        /// Adds the caller of the functions added before.
        fileprivate mutating func add(_ symbol: Symbol) {
            guard let code = symbol.code else { return }
            if symbol.isOfLibrary || symbol.isOfTether {
                if functions.isEmpty { waits = code }
                return
            }
            let place = symbol.codeAndLine ?? code
            // A closure and its forwarder are one call.
            if let last = functions.last, last.hasPrefix(code) {
                if place.count > last.count { functions[functions.count - 1] = place }
            } else {
                functions.append(place)
            }
        }
    }

    private static let depthLimit = 64

    static func calls(of task: HiddenAddress) -> Calls {
        var calls = Calls()
        guard let resume = task.word(7), var context = task.word(8) else { return calls }
        Symbol.at(word: resume).map { calls.add($0) }
        for _ in 0..<depthLimit {
            guard context != 0, context & 7 == 0,
                let words = Memory.bytes(at: context, count: 16),
                let caller = words.load(UInt.self, at: 0),
                let function = words.load(UInt.self, at: 8), caller != context
            else { break }
            Symbol.at(word: function).map { calls.add($0) }
            context = caller
        }
        return calls
    }

    /// A task as the subject of a sentence.
    static func description(of task: HiddenAddress) -> String {
        let calls = calls(of: task)
        var clauses: [String] = []
        if let outermost = calls.functions.last {
            let innermost = calls.functions.first == outermost ? nil : calls.functions.first
            clauses.append("runs \(outermost)")
            if let innermost { clauses.append("is in \(innermost)") }
        }
        if let waits = calls.waits { clauses.append("waits in \(waits)") }
        guard let last = clauses.popLast() else { return "a task" }
        let others = clauses.isEmpty ? "" : "\(clauses.joined(separator: ", ")) and "
        return "a task that \(others)\(last)"
    }

    /// The task that calls; `nil` outside of tasks.
    static var current: HiddenAddress? {
        // SAFETY: a task's handle is its address, which is only compared.
        unsafe withUnsafeCurrentTask { task in
            unsafe task.map { unsafe HiddenAddress(unsafeBitCast($0, to: UInt.self)) }
        }
    }
}
