/// The deallocator hook finds the original deallocating function of a class in a table, which
/// grows, and is read without a lock.
///
/// The runtime reads the pointer to the hook without an order. So on ARM64 the hook may run before
/// the thread sees the class in the table, or the table. The hook therefore reads the word again.
/// The model looks up class 7, whose function is 3. Class 8 was added before, and has the place
/// where the search begins.
struct HookTable: Modelled {
    /// A place of the table.
    struct Place {
        let metadata = Location("metadata")
        let original = Location("original")
    }

    /// 0: no table; 1: a table; 2: a larger table has replaced it.
    let hooked: Location
    let table = [Place(), Place()]
    let largerTable = [Place()]
    /// The word in class 7's metadata: 3 is the class's own function, 1 leads to the hook, 2 to
    /// the hook of another copy of the library.
    let destroy = Location("destroy", initially: 3)
    let unowned = Location("the count of unowned references", initially: 1)
    let references = Location("references", initially: 2)

    var looksAgain = true
    var secondLook = Order.acquiring
    var installation = Order.releasing
    var keepsFirstOriginal = false
    var tableStore = Order.releasing
    var tableLoad = Order.acquiring
    var lastReleaseFence: Order? = .acquiring

    init(on machine: Machine) {
        hooked = Location("hooked")
    }

    static let code = [
        Code(
            "COwnerLifetime/DeallocatorHook.c", "destroy_function original_of(", "*find(",
            "*remember(", "void hook(", "bool tether_hook_install(",
            "atomic_load_explicit(&hooked, memory_order_acquire)",
            // Under the lock.
            "atomic_load_explicit(&hooked, memory_order_relaxed)",
            "atomic_load_explicit(&table->classes[i].metadata, memory_order_relaxed)",
            "atomic_load_explicit(&table->classes[i].original, memory_order_relaxed)",
            "atomic_store_explicit(&slot->metadata, known, memory_order_relaxed)",
            "atomic_store_explicit(&hooked, larger, memory_order_release)",
            "atomic_store_explicit(&slot->original, original, memory_order_relaxed)",
            "atomic_store_explicit(&slot->metadata, metadata, memory_order_relaxed)",
            "atomic_load_explicit(&slot->metadata, memory_order_relaxed) == metadata",
            "atomic_load_explicit(&slot->original, memory_order_relaxed)",
            "atomic_load_explicit(destroy_word_of_class(metadata), memory_order_acquire)",
            "atomic_load_explicit(destroy, memory_order_relaxed)",
            "(destroy, &original, hook, memory_order_release, memory_order_relaxed)",
            // Set before the first class is hooked.
            "atomic_load_explicit(&will_end_callback, memory_order_acquire)",
            "atomic_load_explicit(&did_end_callback, memory_order_acquire)",
            "tether_unowned_count(object) <= 1")
    ]

    /// `remember`
    func remember(_ metadata: Int, _ original: Value, at place: Place) {
        place.original.store(original, .relaxed)
        place.metadata.store(Value(metadata), .relaxed)
    }

    /// `tether_hook_install`, of class 8 and then of class 7, with the lock.
    func install() {
        hooked.store(1, tableStore)
        remember(8, 4, at: table[0])
        let original = destroy.load(.relaxed)
        remember(7, original, at: table[1])
        if original == 3 {
            if destroy.compareExchange(expected: 3, desired: 1, installation) { return }
            if !keepsFirstOriginal { table[1].original.store(2, .relaxed) }
        }
        if destroy.compareExchange(expected: 2, desired: 1, installation) { note("over another") }
    }

    /// `hook` and `original_of`, called by the runtime because of `destroy`.
    func hook() {
        guard destroy.load(.relaxed) == 1 else { return }
        if looksAgain { _ = destroy.load(secondLook) }
        let hooked = hooked.load(tableLoad)
        if hooked == 0 { return note("follows null") }
        let place = find(in: hooked.number == 1 ? table : largerTable, through: hooked)
        if place.metadata.load(.relaxed, through: hooked) != 7 { return note("is lost") }
        note("calls", place.original.load(.relaxed, through: hooked))
    }

    /// `find`: the class's place, or the first empty place.
    private func find(in table: [Place], through hooked: Value) -> Place {
        for place in table {
            let found = place.metadata.load(.relaxed, through: hooked)
            if found == 7 || found == 0 { return place }
        }
        assume(false)
        return table[0]
    }

    static let claims: [Claim<HookTable>] = [
        Claim(
            "the hook finds the table, and its class in the table",
            mutants: [
                Mutant("it does not look at the word again", breaksOn: .weak) {
                    $0.looksAgain = false
                },
                Mutant("it looks at the word again relaxed", breaksOn: .weak) {
                    $0.secondLook = .relaxed
                },
                Mutant("the hook is installed relaxed", breaksOn: .weak) {
                    $0.installation = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("follows null") || $0.has("is lost") || $0["calls"] == 4 },
                .init("install") { code.install() },
                .init("the last release") { code.hook() })
        },
        Claim(
            "a hook that was installed over another copy's calls that copy's",
            mutants: [
                Mutant("it keeps the function that was found first", breaksOn: .all) {
                    $0.keepsFirstOriginal = true
                },
                Mutant("it looks at the word again relaxed", breaksOn: .weak) {
                    $0.secondLook = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("over another") && $0["calls"] == 3 },
                .init("install") { code.install() },
                .init("another copy's install") {
                    _ = code.destroy.compareExchange(expected: 3, desired: 2, .releasing)
                },
                .init("the last release") { code.hook() })
        },
        Claim(
            "the hook finds the class in a table that has grown, complete",
            mutants: [
                Mutant("the larger table is stored relaxed", breaksOn: .weak) {
                    $0.tableStore = .relaxed
                },
                Mutant("the table is loaded relaxed", breaksOn: .language) {
                    $0.tableLoad = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("is lost") || ($0["calls"] != nil && $0["calls"] != 3) },
                .init("install") {
                    code.install()
                    // No thread reads the copy before the copy is complete.
                    code.largerTable[0].original.store(3, .plain)
                    code.largerTable[0].metadata.store(7, .relaxed)
                    code.hooked.store(2, code.tableStore)
                },
                .init("the last release") { code.hook() })
        },
        Claim(
            "the last release of an owner finds the hook and the record's unowned reference",
            mutants: [
                Mutant("the runtime's last release did not acquire", breaksOn: .weak) {
                    $0.lastReleaseFence = nil
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("is last") && ($0["hook"] == 0 || $0["unowned"] == 1) },
                // `ObjectTable.attach`, by a thread that retains the object, and then releases it.
                .init("attach") {
                    code.destroy.store(1, .releasing)
                    code.unowned.wrappingAdd(1, .relaxed)
                    code.references.wrappingAdd(-1, .releasing)
                },
                .init("the last release") {
                    note("is last", code.references.wrappingAdd(-1, .releasing).number == 1 ? 1 : 0)
                    if let order = code.lastReleaseFence { fence(order) }
                    note("hook", code.destroy.load(.relaxed) == 1 ? 1 : 0)
                    note("unowned", code.unowned.load(.relaxed))
                })
        },
    ]
}
