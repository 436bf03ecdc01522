# What is looked for in the files as they are.

top_level() {
    diff <(printf '%s\n' Examples Package.swift README.md Sources Tests) <(ls)
    # Hidden files are free, but for what builds leave.
    git ls-files '.build*' '.swiftpm*' | (! grep .)
}

readme_length() {
    local lines
    lines=$(wc -l <README.md)
    echo "README.md has $lines lines, and may have 120."
    ((lines <= 120))
}

citations() {
    local contract=Sources/Tether/Tether.docc/Contract.md id missing=0 count=0
    for id in $(grep -oE '^### [A-Z][0-9]+$' "$contract" | cut -c5-); do
        count=$((count + 1))
        # In the name of a test: a sentence in backticks, or XCTest's. A number stands for itself only: D1 is not D10.
        if ! grep -rqE --include='*.swift' "func (test|\`([^\`]*[^A-Za-z0-9])?)$id([^0-9]|\$)" Tests; then
            echo "No test cites $id."
            missing=1
        fi
    done
    echo "$count lines of the contract were looked for."
    ((count > 0 && missing == 0))
}

format() { swift format lint --strict --recursive Sources Tests Examples Package.swift; }

# The documentation of the libraries that the tests were built with.
documentation() {
    debug_build
    limited .ci/documentation $build/debug "$build/documentation" | tee "$logs/documentation.txt"
    tail -n 1 "$logs/documentation.txt" >"$logs/documentation.summary"
}
