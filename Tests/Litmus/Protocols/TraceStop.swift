/// A trace is stopped while other threads write events: its file is let go of when none of them is at it (L5).
///
/// Who writes says so, and then looks whether there is a trace; who stops takes the trace away, and then looks who writes.
struct TraceStop: Modelled {
    let isBusy = Location("is_busy")
    let number = Location("tether_trace_number", initially: 1)
    /// 0 while it is mapped.
    let file = Location("file")
    let written = Location("written")

    var busyStore = Order.sequentiallyConsistent
    var numberLoad = Order.sequentiallyConsistent
    var numberStore = Order.sequentiallyConsistent
    var busyLoad = Order.sequentiallyConsistent
    var busyEnd = Order.releasing

    init(on machine: Machine) {}

    static let code = [
        Code(
            "COwnerLifetime/Trace.c", "uint64_t tether_trace_write(", "static void stop_locked(",
            "atomic_store(&writer->is_busy, true)", "__atomic_load_n(&tether_trace_number, __ATOMIC_SEQ_CST)",
            "__atomic_store_n(&tether_trace_number, 0, __ATOMIC_SEQ_CST)", "while (atomic_load(&writer->is_busy))",
            "atomic_store_explicit(&writer->is_busy, false, memory_order_release)")
    ]

    /// `tether_trace_write`
    func write() {
        isBusy.store(1, busyStore)
        if number.load(numberLoad) != 0 {
            note("file", file.load(.plain))
            written.store(1, .plain)
            note("wrote")
        }
        isBusy.store(0, busyEnd)
    }

    /// `stop_locked`, in the executions in which it finds nobody writing.
    func stop() {
        number.store(0, numberStore)
        guard isBusy.load(busyLoad) == 0 else { return }
        note("written", written.load(.plain))
        file.store(1, .plain)
    }

    static let claims: [Claim<TraceStop>] = [
        Claim(
            "nobody writes to a file that is not mapped any more",
            mutants: [
                Mutant("who writes says so with release", breaksOn: .x86AndLanguage) {
                    $0.busyStore = .releasing
                },
                Mutant("the trace is taken away with release", breaksOn: .x86AndLanguage) {
                    $0.numberStore = .releasing
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["file"] == 1 }, .init("write") { code.write() },
                .init("stop") { code.stop() })
        },
        Claim(
            "who stops a trace has all that was written",
            mutants: [
                Mutant("who has written says so relaxed", breaksOn: .weak) { $0.busyEnd = .relaxed },
                Mutant("who looks for that does so relaxed", breaksOn: .weak) { $0.busyLoad = .relaxed },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("wrote") && $0["written"] == 0 }, .init("write") { code.write() },
                .init("stop") { code.stop() })
        },
    ]
}
