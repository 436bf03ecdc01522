/// The deallocator hook finds what a class's deallocating function was, in a table that is read
/// without a lock, and grows.
///
/// The runtime reads the word that leads to the hook without an order, so on ARM64 the hook may run
/// before its thread sees the class in the table, or the table. In the model class 7, whose
/// function is 70, is looked for; class 8 came before it and has the place where the search begins.
struct HookTable: Modelled {
    /// A place of the table.
    struct Place {
        let metadata = Location("metadata")
        let original = Location("original")
    }

    /// 0: there is no table; 1: there is one; 2: a larger one has taken its place.
    let hooked: Location
    let table = [Place(), Place()]
    let largerTable = [Place()]
    /// The word in class 7's metadata: 1 leads to the hook.
    let destroy = Location("destroy")
    let unowned = Location("the count of unowned references", initially: 1)
    let references = Location("references", initially: 2)

    var looksForTableAgain = true
    var comparesMetadata = true
    var metadataLoad = Order.acquiring
    var metadataStore = Order.releasing
    var tableStore = Order.releasing
    var tableLoad = Order.acquiring
    var lastReleaseFence: Order? = .acquiring

    init(on machine: Machine) {
        hooked = Location("hooked")
    }

    static let code = [
        Code(
            "COwnerLifetime/DeallocatorHook.c", "destroy_function original_of(", "*find(",
            "*remember(", "void hook(",
            "atomic_load_explicit(&hooked, memory_order_acquire)",
            "atomic_load_explicit(&slot->metadata, memory_order_acquire) == metadata",
            "atomic_store_explicit(&hooked, larger, memory_order_release)",
            "atomic_store_explicit(&slot->metadata, metadata, memory_order_release)",
            "tether_unowned_count(object) <= 1")
    ]

    /// `remember`
    func remember(_ metadata: Int, at place: Place) {
        place.original.store(Value(metadata * 10), .relaxed)
        place.metadata.store(Value(metadata), metadataStore)
    }

    /// `tether_hook_install`, of class 8 and then of class 7, with the lock.
    func install() {
        hooked.store(1, tableStore)
        remember(8, at: table[0])
        remember(7, at: table[1])
        destroy.store(1, .releasing)
    }

    /// `hook` and `original_of`, called by the runtime because of `destroy`. Where it looks again,
    /// that is another run.
    func hook() {
        guard destroy.load(.relaxed) == 1 else { return }
        let hooked = hooked.load(tableLoad)
        if hooked == 0 { return looksForTableAgain ? assume(false) : note("follows null") }
        let place = find(in: hooked.number == 1 ? table : largerTable, through: hooked)
        let metadata = place.metadata.load(metadataLoad, through: hooked)
        assume(comparesMetadata ? metadata.number == 7 : metadata.number != 0)
        note("calls", place.original.load(.relaxed, through: hooked))
    }

    /// `find`: the class's place, or the first empty one.
    private func find(in table: [Place], through hooked: Value) -> Place {
        for place in table {
            let found = place.metadata.load(metadataLoad, through: hooked)
            if found == 7 || found == 0 { return place }
        }
        assume(false)
        return table[0]
    }

    static let claims: [Claim<HookTable>] = [
        Claim(
            "the hook follows no null table",
            mutants: [
                Mutant("it does not look for the table again", breaksOn: .weak) {
                    $0.looksForTableAgain = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("follows null") },
                .init("install") { code.install() },
                .init("the last release") { code.hook() })
        },
        Claim(
            "the hook calls its class's own function",
            mutants: [
                Mutant("it asks whether a place is taken, not by whom", breaksOn: .weak) {
                    $0.comparesMetadata = false
                },
                Mutant("the class is loaded relaxed", breaksOn: .weak) {
                    $0.metadataLoad = .relaxed
                },
                Mutant("the class is stored relaxed", breaksOn: .weak) {
                    $0.metadataStore = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["calls"] != nil && $0["calls"] != 70 },
                .init("install") { code.install() },
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
                forbidden: { $0["calls"] != nil && $0["calls"] != 70 },
                .init("install") {
                    code.install()
                    // The copy is nobody's before it is whole.
                    code.largerTable[0].original.store(70, .plain)
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
                // `OwnerTable.attach`, by a thread that holds the object, and then releases it.
                .init("attach") {
                    code.destroy.store(1, .releasing)
                    code.unowned.wrappingAdd(1, .relaxed)
                    code.references.wrappingAdd(-1, .releasing)
                },
                .init("the last release") {
                    note("is last", code.references.wrappingAdd(-1, .releasing).number == 1 ? 1 : 0)
                    if let order = code.lastReleaseFence { fence(order) }
                    note("hook", code.destroy.load(.relaxed))
                    note("unowned", code.unowned.load(.relaxed))
                })
        },
    ]
}
