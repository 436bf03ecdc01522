# The sources as they are.

top_level() {
    diff <(printf '%s\n' Examples Package.swift README.md Sources Tests) <(ls)
    # Where README.md is shown, a longer line of code is cut off.
    (! awk '/^```/ { code = !code } code && length > 92' README.md | grep .)
    # Hidden files are free, except for build products.
    git ls-files '.build*' '.swiftpm*' | (! grep .)
}

citations() {
    local id missing=0 count=0
    for id in $(grep -oE '^#+ [A-Z][0-9]+\b' Sources/Tether/Tether.docc/Contract.md | sed 's/.* //'); do
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
