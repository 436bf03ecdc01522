# The memory orders of the lock-free protocols; .ci/arm64-code looks at what a compiler makes of them.

litmus() {
    release_build
    limited $build/release/release/Litmus | tee "$logs/litmus.txt"
    tail -n 2 "$logs/litmus.txt" | head -n 1 >"$logs/litmus.summary"
}
