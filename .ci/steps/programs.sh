# The programs: the examples, and Smoke and HookSafety of Tests/Tools, in every build mode.

# run_program FOLDER NAME: runs a program that was built into a folder. An example must print the lines in the comments of
# its sources that begin with `// Prints: `.
run_program() {
    local folder=$1 name=$2 printed line
    printed=$(mktemp -p "$logs" program.XXXXXX)
    echo "\$ $name"
    case $name in
        Tour) tour "$folder/Tour" ;;
        Trace) limited "$folder/Trace" "$logs" ;;
        ChatServer) limited .ci/chat "$folder/ChatServer" ;;
        LeakFreedom)
            # LeakFreedom finds leaks as an app does, without a framework for tests.
            ldd "$folder/LeakFreedom" | (! grep -iE 'testing|xctest')
            limited "$folder/LeakFreedom"
            ;;
        HookSafety) hook_safety "$folder" ;;
        *) limited "$folder/$name" ;;
    esac | tee "$printed"
    while IFS= read -r line; do
        grep -qxF -- "$line" "$printed" || { echo "$name did not print: $line"; return 1; }
    done < <(cat Examples/"$name"/*.swift 2>/dev/null | sed -n 's|^// Prints: ||p')
    rm "$printed"
}

# tour COMMAND...: the tour must fit on one screen, and its last line must count no leftovers.
tour() {
    local printed
    printed=$(mktemp -p "$logs" tour.XXXXXX)
    limited "$@" | tee "$printed"
    [[ $(tail -n 1 "$printed") == 'Nothing is left: 0 observers, 0 owners, 0 captures.' ]]
    [[ $(wc -l <"$printed") -le 45 ]]
    (! grep -E '.{101}' "$printed")
    rm "$printed"
}

# hook_safety FOLDER: the deallocator hook in every kind of class, also of a library that is loaded later. A program with the
# Swift runtime linked in cannot load such a library, which would bring a second runtime.
hook_safety() {
    local library=
    if [[ $1 != *static* ]]; then
        library=$PWD/$1/libHookSafetyLibrary.so
        swiftc -O -parse-as-library -emit-library -o "$library" Tests/Tools/HookSafety/Library/Library.swift
    fi
    limited "$1/HookSafety" $library
}

# build_programs FOLDER OPTION...: builds all programs, those of Tests/Tools in the folder `tools` of the folder.
build_programs() {
    limited swift build --scratch-path "$1" "${@:2}"
    limited swift build --package-path Tests/Tools --scratch-path "$1/tools" "${@:2}"
}

# run_programs FOLDER CONFIGURATION: runs all programs that `build_programs` built into a folder.
run_programs() {
    local program
    for program in Smoke HookSafety; do run_program "$1/tools/$2" "$program"; done
    for program in $(ls Examples); do run_program "$1/$2" "$program"; done
}

debug_programs() {
    local program
    debug_build
    for program in $(ls Examples); do run_program $build/debug "$program"; done
    planted_leak
}

release_programs() {
    local program
    tools_build
    for program in Smoke HookSafety; do run_program $build/tools/release "$program"; done
}

# The planted leak of Notes fails its tests, with the view, the line and a picture.
planted_leak() {
    local printed=$logs/planted.txt pictures=$logs/pictures
    rm -rf "$pictures"
    mkdir "$pictures"
    if NOTES_LEAK=1 limited swift test --skip-build --filter NotesTests --attachments-path "$pictures" >"$printed" 2>&1
    then
        echo 'The leak that Notes plants was not found.'
        return 1
    fi
    grep -E 'CountView.* Notes/Notes\.swift:' "$printed"
    ls "$pictures"/*.svg
}

# mode NAME SETTINGS...: the programs, built in release with these settings, and run.
mode() {
    local folder=$build/modes/$1
    shift
    build_programs "$folder" -c release "$@"
    run_programs "$folder" release
}

# The same with a linked-in runtime. One program after the other, because Swift Testing cannot be linked so for tests.
static_mode() {
    local folder=$build/modes/static program
    for program in $(ls Examples); do
        limited swift build -c release --scratch-path "$folder" --static-swift-stdlib --product "$program"
    done
    for program in Smoke HookSafety; do
        limited swift build --package-path Tests/Tools -c release --scratch-path "$folder/tools" --static-swift-stdlib \
            --product "$program"
    done
    run_programs "$folder" release
}

# A program loads two libraries that each link a copy of Tether, and both observe the same objects.
two_copies() {
    local products=$build/modes/release/release folder=$build/two-copies copy scope objects
    limited swift build -c release --scratch-path $build/modes/release --target Tether
    mkdir -p "$folder"
    # By the names of the sources: the folder may have an object of a source that was renamed.
    mapfile -t objects < <(find Sources/Tether -name '*.swift' -printf "$products/Tether.build/%f.o\n")
    for copy in A B; do
        swiftc -swift-version 6 -enable-upcoming-feature MemberImportVisibility -I "$products/Modules" -parse-as-library \
            -Xcc -fmodule-map-file="$products/COwnerLifetime.build/module.modulemap" -emit-library -module-name Plugin$copy \
            -o "$folder/libPlugin$copy.so" Tests/TwoCopies/Plugin.swift "${objects[@]}" "$products"/COwnerLifetime.build/*.o
    done
    swiftc -swift-version 5 -o "$folder/Host" Tests/TwoCopies/Host.swift
    for scope in local global; do
        echo "\$ Host $scope"
        limited "$folder/Host" $scope "$folder"/libPlugin{A,B}.so
    done
}
