# The tests, built in several ways.

# What the tests execute; what they do not is accounted for in the code. Without races, storms and models, which execute
# some of it by chance; and with counters that threads share. This is also the build in which warnings are errors.
coverage() {
    local folder=$build/coverage
    limited swift build --build-tests --enable-code-coverage --scratch-path "$folder" \
        -Xswiftc -Xllvm -Xswiftc -instrprof-atomic-counter-update-all \
        -Xswiftc -warnings-as-errors -Xcc -Wall -Xcc -Wextra -Xcc -Werror
    rm -rf "$folder"/debug/codecov
    limited swift test --skip-build --enable-code-coverage --scratch-path "$folder" \
        --skip Race --skip Storm --skip ModelTests
    .ci/coverage "$folder/debug/TetherPackageTests.xctest" "$folder/debug/codecov/default.profdata" |
        tee "$logs/coverage.txt"
    grep '^TOTAL' "$logs/coverage.txt" >"$logs/coverage.summary"
}

# `release` runs all rounds of the races.
readme_commands() {
    local command
    export TETHER_RACES=0.3
    for start in 'swift run' 'swift test'; do
        command=$(grep -E "^$start" README.md)
        [[ $command != *$'\n'* ]] || { echo "README.md has more than one line that starts with $start."; return 1; }
        echo "\$ $command"
        limited $command
    done
}

# Tests that ask the compiler about programs: what it says does not depend on how they themselves were built.
compiler_tests='(DocumentedCode|IsolationSnippet|WrongProgram|Compiler|Swift5Mode|MovedOver)Tests'

release_tests() {
    release_build
    limited swift test --skip-build "${release_options[@]}" --skip "$compiler_tests"
}

# Where the system has no membarrier, posting threads fence what they announce.
without_fence() {
    release_build
    TETHER_RACES=0.3 TETHER_WITHOUT_MEMBARRIER=1 limited swift test --skip-build "${release_options[@]}" --skip "$compiler_tests"
}

# The diagnosis of a model that other threads change while it is walked.
changing_model() {
    debug_build
    TETHER_DIAGNOSIS=60 limited swift test --skip-build --filter ChangingModelTests
    release_build
    TETHER_DIAGNOSIS=60 limited swift test --skip-build "${release_options[@]}" --filter ChangingModelTests
}

# That the benchmark works, not how fast the machine is.
benchmarks() {
    release_build
    limited $build/release/release/Benchmarks --quick --json "$logs/benchmarks.json"
    grep -q '"work" : "post, 1000 observers"' "$logs/benchmarks.json"
}

# A million owners, after which the process has no more memory than after the first tenth.
soak() {
    release_build
    limited $build/release/release/Soak
}

long_model() {
    release_build
    TETHER_MODEL_OPERATIONS=20000000 limited swift test --skip-build "${release_options[@]}" --filter '\.ModelTests'
}

long_storms() {
    release_build
    TETHER_STORM=100 limited swift test --skip-build "${release_options[@]}" --filter StormTests
}

# Under the optimiser, which moves what a debug build leaves where it is.
long_races() {
    local round options=(-c release -Xswiftc -enable-testing --sanitize=thread --scratch-path "$build/thread-release")
    limited swift build --build-tests "${options[@]}"
    export TSAN_OPTIONS='halt_on_error=1 exitcode=66' TETHER_RACES=0.2
    for round in {1..50}; do
        limited swift test --skip-build "${options[@]}" --filter 'Races|OwnerRaceTests|WaitingCycleTests|StopAndWaitTests'
    done
}

# Swift Testing runs tests side by side, in an order that differs from run to run, and one run on each processor makes it
# differ more: most tests wait rather than work. Races, storms and models repeat themselves, and have long steps of their
# own.
fifty_times() {
    local begun processor run runs processors status=0
    processors=$(nproc)
    debug_build
    for ((begun = 0; begun < 50; begun += processors)); do
        runs=()
        for processor in $(seq "$processors"); do
            limited swift test --skip-build --ignore-lock --skip Race --skip Storm --skip ModelTests --skip "$compiler_tests" &
            runs+=($!)
        done
        # All, so that one which fails leaves none behind.
        for run in "${runs[@]}"; do wait "$run" || status=$?; done
        ((status == 0)) || return "$status"
    done
}
