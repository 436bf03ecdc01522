# The tests and programs under ThreadSanitizer, AddressSanitizer, LeakSanitizer and Valgrind. These see a race
# whichever way it goes, and so run a part of its rounds; `.ci/run long-races` runs them all.

thread_sanitizer() {
    export TSAN_OPTIONS='halt_on_error=1 exitcode=66'
    TETHER_RACES=0.2 limited swift test --sanitize=thread --scratch-path $build/thread --skip "$compiler_tests" \
        --skip '\.ModelTests' # which has one thread
    # Its two walkers meet differently in every run.
    for _ in {1..10}; do tour $build/thread/debug/Tour; done
    limited $build/thread/debug/Smoke
}

leak_sanitizer() {
    export ASAN_OPTIONS='detect_leaks=1'
    export LSAN_OPTIONS="suppressions=$PWD/.ci/leaks.txt print_suppressions=0 exitcode=23"
    local test="swift test --sanitize=address --scratch-path $build/address"
    TETHER_RACES=0.1 limited $test --skip TetherTestingTests --skip AddressReuseTests --skip "$compiler_tests"
    # What the tests of leak verification plant are leaks.
    ASAN_OPTIONS='detect_leaks=0' limited $test --skip-build --filter TetherTestingTests
    # The sanitizer keeps addresses from being used again for a while; here that is what is tested.
    ASAN_OPTIONS='detect_leaks=1 quarantine_size_mb=0 thread_local_quarantine_size_kb=0' \
        limited $test --skip-build --filter AddressReuseTests
    tour $build/address/debug/Tour
    local program
    for program in Examples/*/; do
        program=$(basename "$program")
        case $program in
            # What it plants are leaks.
            LeakFreedom) ;;
            ChatServer) limited .ci/chat $build/address/debug/ChatServer ;;
            *) limited $build/address/debug/"$program" ;;
        esac
    done
    limited $build/address/debug/Smoke
    limited $build/address/debug/HookSafety
}

# The examples and short storms under memcheck. Leaks are LeakSanitizer's matter: the runtime keeps some of its pointers in
# a form that memcheck does not know, and those would be false ones.
#
# New memory is filled with a value that is no field's offset. The runtime stores an offset only if the memory does not hold
# that value already; where it does by chance, in one of some twenty runs, memcheck takes the offset for unset and reports
# every use of it.
memcheck() {
    local folder=$build/memcheck program clients
    debug_build
    .ci/install valgrind || { echo '.ci/run --without-memcheck leaves it out.'; return 1; }
    mkdir -p "$folder"
    # Valgrind 3.19 dies of the call in which the main thread of a program with an async main waits for ever.
    clang -shared -fPIC -o "$folder/wait.so" -x c - <<<'
        #include <signal.h>
        #include <unistd.h>
        int sigsuspend(const sigset_t *mask) { for (;;) usleep(10000); }'
    for program in Examples/*/ TetherPackageTests.xctest; do
        program=$(basename "$program")
        # Nor does it read the debug information of Swift 6.
        llvm-objcopy --strip-debug "$build/debug/$program" "$folder/$program"
        echo "\$ valgrind $program"
        [[ $program == *.xctest ]] && set -- --testing-library swift-testing --filter StormTests
        clients=()
        [[ $program == ChatServer ]] && clients=(.ci/chat)
        limited "${clients[@]}" env TETHER_STORM=0.05 LD_PRELOAD="$folder/wait.so" \
            valgrind --quiet --leak-check=no --fair-sched=yes --error-exitcode=9 --suppressions=.ci/valgrind.supp \
            --malloc-fill=fd "$folder/$program" "$@"
    done
}
