# The programs: the tour, the other examples, Smoke and HookSafety, in every build mode.

# tour COMMAND...: runs it, and checks what it printed last.
tour() {
    local printed
    printed=$(mktemp -p "$logs" tour.XXXXXX)
    limited "$@" | tee "$printed"
    [[ $(tail -n 1 "$printed") == 'Nothing is left: 0 observers, 0 owners, 0 captures.' ]]
    # One screen.
    (($(wc -l <"$printed") <= 45)) && ! grep -E '.{101}' "$printed"
    rm "$printed"
}

# example PROGRAM LINE...: runs a program, with what stands behind it in the same word, and looks for lines in what it
# prints, which then is in `$printed`.
example() {
    local program=$1 line
    shift
    limited $program | tee "$printed"
    for line in "$@"; do
        grep -qxF -- "$line" "$printed" || { echo "$program did not print: $line"; return 1; }
    done
}

# other_examples FOLDER: all but the tour, as they were built into a folder.
other_examples() {
    local folder=$1 name printed
    printed=$(mktemp -p "$logs" example.XXXXXX)
    example "$folder/Coalescing" 'Redrawn 1 times.' 'Redrawn 3 times.'
    [[ $(grep -cx '  redrawn' "$printed") == 4 ]]
    example "$folder/ThreadDelivery" 'packet 0 posted on the main thread; 1 waiting for the thread to start' \
        'packet 0 decoded on thread decoder' 'packet 3 decoded on thread decoder' \
        'end of stream, on thread decoder' 'decoder gone: no observers'
    example "$folder/TypedMessages" 'bar shows 50 %' 'posted; the bar has 50 % already' \
        'a plain observer was told of one' 'the library has one' 'the library has two'
    [[ $(grep -c '^bar shows' "$printed") == 1 ]]
    example "$folder/AsyncSequences" 'alarm: three values' "the session's loop ended after 3 values" \
        "the cancelled task's loop ended" 'alarm: battery is empty' 'the sensor is gone' \
        'among the newest: 2' 'among the newest: 3'
    [[ $(grep -c . "$printed") == 7 ]]
    example "$folder/FolderWatch" "file 1 seen on the watching thread" 'file 1 seen on the main queue' \
        'file 1 seen on a dispatch queue' 'file 1 seen on an operation queue' "file 1 seen on a thread's run loop" \
        'without the listener on the watching thread: 0 observers'
    [[ $(grep -c ' seen on ' "$printed") == 15 ]]
    limited .ci/chat "$folder/ChatServer"
    example "$folder/Notes" '2 notes, 2 observers' 'window closed: 0 observers'
    rm -rf "$logs/trace"
    mkdir "$logs/trace"
    example "$folder/Trace $logs/trace" '2 deliveries waited, 1 was made' 'end of Sidebar' \
        '    end of observer modelDidChange: its owner ends' '        dropped modelDidChange: its observer ends' \
        '    end of observer modelDidClose: its owner ends' 'post sidebarDidGo'
    # What was captured goes before the deinit; where in the end it does, the optimiser decides.
    [[ $(grep 'post ' "$printed" | tr -d '\n') =~ ^\ *post\ draftDidGopost\ sidebarDidGo$ ]]
    grep -q 'end of Sidebar' "$logs/trace/owner-end.svg"
    TETHER_TRACE=$logs/trace/environment.json limited "$folder/Coalescing"
    grep -q '"trace ends"' "$logs/trace/environment.json"
    for name in Examples/*/; do
        name=$(basename "$name")
        case $name in
            Trace | Tour | Coalescing | ThreadDelivery | TypedMessages | AsyncSequences | FolderWatch | ChatServer | Notes) ;;
            LeakFreedom) limited .ci/without-test-frameworks "$folder/LeakFreedom" ;;
            *) limited "$folder/$name" ;;
        esac
    done
    rm "$printed"
}

# hook_safety FOLDER: the deallocator hook in every kind of class.
hook_safety() {
    local library=$PWD/$1/libHookSafetyLibrary.so
    # A library with a Swift runtime of its own has no place beside one that is linked in.
    if [[ $1 == *static* ]]; then
        library=
    else
        swiftc -O -parse-as-library -emit-library -o "$library" Tests/HookSafety/Library/Library.swift
    fi
    limited "$1/HookSafety" $library
}

tour_refuses() {
    local run=$build/debug/Tour arguments
    debug_build
    for arguments in /nowhere Package.swift 'Sources Tests'; do
        if $run $arguments >"$logs/out.txt" 2>"$logs/err.txt"; then echo "accepted: $arguments"; return 1; fi
        cat "$logs/err.txt"
        [[ ! -s $logs/out.txt && $(wc -l <"$logs/err.txt") == 1 ]]
    done
}

# programs FOLDER: all of them, as they were built into a folder.
programs() {
    limited "$1/Smoke"
    limited "$1/Smoke" --end-in-loop
    hook_safety "$1"
    tour "$1/Tour"
    other_examples "$1"
}

debug_programs() {
    debug_build
    programs $build/debug
    planted_leak
}

# The leak that Notes plants fails its tests, with the view, the line, the remedy and a picture.
planted_leak() {
    local printed=$logs/planted.txt pictures=$logs/pictures
    rm -rf "$pictures"
    mkdir "$pictures"
    if NOTES_LEAK=1 limited swift test --skip-build --filter NotesTests --attachments-path "$pictures" >"$printed" 2>&1
    then
        echo 'The leak that Notes plants was not found.'
        return 1
    fi
    grep -F 'CountView, an owner, observed for at Notes/Notes.swift:' "$printed" |
        grep -F 'Use the owner that the handler is handed, or capture it weakly there.'
    grep -F '>captures</text>' "$pictures"/Notes.swift-*.svg
}

# mode NAME SETTINGS...: what is not a test, built in release with these settings, and run.
mode() {
    local folder=$build/modes/$1
    shift
    limited swift build -c release --scratch-path "$folder" "$@"
    programs "$folder/release"
}

# The same with a runtime that is linked in; one program after the other, because there is no such Swift Testing for tests.
static_mode() {
    local folder=$build/modes/static program
    for program in Smoke HookSafety $(ls Examples); do
        limited swift build -c release --scratch-path "$folder" --static-swift-stdlib --product "$program"
    done
    programs "$folder/release"
}

# C++ classes, against the library that the tests were built with.
cpp_classes() {
    debug_build
    limited .ci/cpp $build/debug
}
