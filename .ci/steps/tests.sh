# The tests, built in several ways.

# Tests that call the compiler. The results do not depend on the build of the tests.
compiler_tests="($(grep -rlE '\bCompiler\(' Tests --include='*Tests.swift' | sed 's#.*/##; s/\.swift$//' | paste -sd '|'))"

# The commands of README.md.
readme_commands() {
    local start command
    debug_build
    for start in 'swift run' 'swift test'; do
        command=$(grep -E "^$start" README.md)
        [[ $command != *$'\n'* ]] || { echo "README.md has more than one line that starts with $start."; return 1; }
        echo "\$ $command"
        limited $command
    done
}

# test_release OPTION...: tests of the release build.
test_release() {
    release_build
    TETHER_TESTS=threads limited swift test --skip-build "${release_options[@]}" "$@"
}

release_tests() { TETHER_RACES=3 TETHER_MODEL_OPERATIONS=200000 test_release; }

# test_all_release OPTION...: all tests in release.
test_all_release() {
    once all-release swift build --build-tests "${release_options[@]}" --scratch-path $build/all-release
    limited swift test --skip-build "${release_options[@]}" --scratch-path $build/all-release --skip "$compiler_tests" "$@"
}

# Where the system has no membarrier, each posting thread needs a fence of its own.
without_fence() { TETHER_WITHOUT_MEMBARRIER=1 TETHER_RACES=3 test_all_release; }

# The memory orders of the lock-free protocols.
litmus() {
    tools_build
    limited $build/tools/release/Litmus
}

# interleavings COUNT SEED: builds a debug library with the points of Support/Interleaving.swift, and plays so many seeds.
interleavings() {
    local flag=-DTETHER_INTERLEAVING folder=$build/interleavings
    # Otherwise the build misses a file that the library has got or lost since the last one.
    rm -f "$folder/debug.yaml"
    limited swift build --package-path Tests/TetherInterleavings --scratch-path "$folder" --disable-index-store \
        -Xswiftc $flag -Xcc $flag
    limited "$folder/debug/Interleavings" "$@"
    # Another process makes the same decisions.
    [[ $("$folder/debug/Interleavings" 500) == $("$folder/debug/Interleavings" 500) ]]
}

# Checks that the benchmarks work, not the speed of the machine.
benchmarks() {
    tools_build
    limited $build/tools/release/Benchmarks --quick --json "$logs/benchmarks.json"
    [[ -s $logs/benchmarks.json ]]
}

# The sanitizers find a race in any order of the threads. A part of the rounds is therefore enough.
thread_sanitizer() {
    local round
    thread_build
    export TSAN_OPTIONS='halt_on_error=1 exitcode=66'
    # The model has one thread.
    TETHER_TESTS=threads TETHER_RACES=0.3 TETHER_STORM=0.3 limited swift test --skip-build "${thread_options[@]}" \
        --skip '\.ModelTests'
    for round in {1..3}; do tour $build/thread/debug/Tour; done
}

# All tests, and Smoke, under ThreadSanitizer.
all_thread_tests() {
    local options=("${thread_options[@]}" --scratch-path $build/all-thread)
    export TSAN_OPTIONS='halt_on_error=1 exitcode=66'
    TETHER_RACES=0.3 TETHER_STORM=0.3 limited swift test "${options[@]}" --skip "$compiler_tests" --skip '\.ModelTests'
    limited swift run --package-path Tests/Tools "${options[@]}" --scratch-path $build/all-thread/tools Smoke
}

# A million owners, after which the process has no more memory than after the first tenth.
soak() {
    tools_build
    limited $build/tools/release/Soak
}

leak_sanitizer() {
    local test="swift test --sanitize=address --scratch-path $build/address" program
    limited swift build --package-path Tests/Tools --sanitize=address --scratch-path $build/address/tools
    export ASAN_OPTIONS='detect_leaks=1'
    export LSAN_OPTIONS="suppressions=$PWD/.ci/leaks.txt print_suppressions=0 exitcode=23"
    TETHER_RACES=0.3 limited $test --skip TetherTestingTests --skip AddressReuseTests \
        --skip PrivilegedProgramTests --skip "$compiler_tests"
    # The tests of leak verification leak on purpose. LeakSanitizer cannot search a program with more rights than its user,
    # which reads no options either.
    ASAN_OPTIONS='detect_leaks=0' limited $test --skip-build --filter TetherTestingTests --skip PrivilegedProgramTests
    # By default the sanitizer delays the reuse of addresses, which these tests need.
    ASAN_OPTIONS='detect_leaks=1 quarantine_size_mb=0 thread_local_quarantine_size_kb=0' \
        limited $test --skip-build --filter AddressReuseTests
    # LeakFreedom and Holders leak on purpose.
    for program in $(ls Examples); do
        [[ $program == LeakFreedom || $program == Holders ]] || run_program $build/address/debug "$program"
    done
    for program in Smoke HookSafety; do run_program $build/address/tools/debug "$program"; done
}

# The code that the tests execute, without races, storms and models, which execute code by chance, and without programs with
# more rights than their user, which cannot write the file of the counters. The counters are atomic, because threads share them.
coverage() {
    local folder=$build/coverage
    limited swift test --enable-code-coverage --scratch-path "$folder" --skip Race --skip Storm --skip ModelTests \
        --skip PrivilegedProgramTests \
        -Xswiftc -Xllvm -Xswiftc -instrprof-atomic-counter-update-all
    llvm-cov report "$folder/debug/TetherPackageTests.xctest" -instr-profile="$folder/debug/codecov/default.profdata" \
        Sources/Tether | tee /dev/stderr | awk '$1 == "TOTAL" { print $4 " of regions, " $10 " of lines" }' \
        >"$logs/coverage.summary"
}

# Diagnoses of a model that other threads change at the same time.
changing_model() {
    export TETHER_DIAGNOSIS=60
    debug_build
    limited swift test --skip-build --filter ChangingModelTests
    test_all_release --filter ChangingModelTests
}

# Holders of objects in random graphs, while threads change other objects.
holder_graphs() {
    export TETHER_TEST_LIMIT=$limit
    debug_build
    TETHER_GRAPHS=1000 limited swift test --skip-build --filter HolderGraphTests
    TETHER_GRAPHS=300 test_all_release --filter HolderGraphTests
}

long_model() { TETHER_MODEL_OPERATIONS=20000000 TETHER_TEST_LIMIT=$limit test_release --filter '\.ModelTests'; }

long_storms() { TETHER_STORM=100 TETHER_TEST_LIMIT=$limit test_release --filter StormTests; }

# Optimised builds, in which the compiler moves accesses that a debug build leaves in place.
long_races() {
    local round options=(-c release -Xswiftc -enable-testing --sanitize=thread --scratch-path "$build/thread-release")
    export TETHER_TESTS=threads TSAN_OPTIONS='halt_on_error=1 exitcode=66' TETHER_RACES=0.6
    limited swift build --build-tests "${options[@]}"
    for round in {1..50}; do limited swift test --skip-build "${options[@]}" --filter 'Race|Cycle|Wait'; done
}

# Tests run side by side, in an order that differs from run to run. A run on each processor varies the order more.
fifty_times() {
    debug_build
    seq 50 >"$logs/rounds"
    limited xargs -a "$logs/rounds" -P "$(nproc)" -I {} swift test --skip-build --ignore-lock \
        --skip Race --skip Storm --skip ModelTests --skip "$compiler_tests"
}
