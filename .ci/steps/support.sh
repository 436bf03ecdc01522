# The run of a step, and functions that steps share.

# Whether a step was chosen. If the steps are only listed, prints the step's name instead.
is_chosen() {
    if ((is_list)); then printf '%-18s %-8s %s\n' "$1" "$kind" "$2"; return 1; fi
    if ((${#chosen[@]})); then [[ " ${chosen[*]} " == *" $1 "* ]]; else [[ $kind == "$wanted" ]]; fi
}

step() { ! is_chosen "$@" || { wait_for_running 0; run_step "$@"; }; }

beside() {
    is_chosen "$@" || return 0
    wait_for_running $(($(nproc) - 1))
    run_step "$@" &
}

# Waits until at most a number of steps run in the background. After a failure, the other steps may end.
wait_for_running() {
    while (($(jobs -rp | wc -l) > $1)); do wait -n || true; done
    [[ ! -e $logs/failed ]] || { wait; exit 1; }
}

# Runs a step's command. Its output goes into a file, which is shown after a failure.
run_step() {
    local name=$1 sentence=$2 begin=$SECONDS status log took TIMEFORMAT='%U + %S'
    shift 2
    log=$logs/$name.log
    [[ ! -t 2 ]] || printf '%s … \r' "$name" >&2
    # A subshell of its own with `set -e`, which `||` would switch off.
    set +e
    { time { (set -e; "$@") >"$log" 2>&1; }; } 2>"$logs/$name.time"
    status=$?
    set -e
    took="$((SECONDS - begin)) s, of processors $(awk '{ print int($1 + $3) }' "$logs/$name.time") s"
    if ((status != 0)); then
        tail -n 60 "$log"
        failures "$log"
        touch "$logs/failed"
        echo "FAILED: $name ($sentence), status $status, $took; all it printed is in $log"
        exit 1
    fi
    echo "$name ($sentence): $took"
    # The totals of test runs, and the step's summary, are shown also after a success.
    totals "$log"
    [[ ! -s $logs/$name.summary ]] || cat "$logs/$name.summary"
}

# failures LOG: the failures, once each: issues of Swift Testing, failures of XCTest, compiler errors and traps.
failures() {
    grep -aE '^✘ |(^|[^a-z])error: |Fatal error' "$1" | awk '!seen[$0]++' | tail -n 15 || true
}

# totals LOG...: the last lines of test runs: Swift Testing's, and XCTest's last line, which has the total of its suites.
totals() {
    awk '/Test run with [1-9][0-9]* tests.* passed/ { print } /Executed [1-9][0-9]* tests?, with/ { total = $0 }
        END { if (total) print total }' "$@"
}

# The ten steps that took most time of the processors. A build that several steps use counts for the first of them.
dearest_steps() {
    local file
    echo 'Seconds of processors:'
    for file in "$logs"/*.time; do
        awk -v name="$(basename "$file" .time)" '{ printf "%6d  %s\n", $1 + $3, name }' "$file"
    done | sort -rn | head -n 10
}

run_steps() {
    local names name
    names=$(is_list=1; steps)
    if ((is_list)); then echo "$names"; return; fi
    for name in "${chosen[@]}"; do
        grep -q "^$name " <<<"$names" || { echo "$name is no step; .ci/run --list names them." >&2; exit 2; }
    done
    rm -f "$logs"/*.{log,summary,done,time} "$logs/failed"
    steps
    wait_for_running 0
    ((${#chosen[@]} == 1)) || dearest_steps
    totals "$logs"/*.log
    echo "All checks passed: $SECONDS s"
}

# Runs a command with a limit of time. `swift test` starts the tests in a separate process group, which would outlive the
# command. Therefore the command gets a session, which is ended as a whole.
limited() {
    local session process status=0
    setsid timeout --kill-after=10 $limit "$@" &
    session=$!
    wait $session || status=$?
    if ((status == 124 || status == 137)); then
        echo "Still running after $limit s: $*"
        for process in /proc/[0-9]*; do
            # The fields after the name, which may hold any text: state, parent, group, session.
            if [[ $(sed 's/.*) //' "$process/stat" 2>/dev/null | cut -d' ' -f4) == "$session" ]]; then
                kill -KILL "${process#/proc/}" 2>/dev/null || true
            fi
        done
    fi
    return $status
}

# once NAME COMMAND...: runs a build that several steps use, once in a run.
once() {
    [[ ! -e $logs/$1.done ]] || return 0
    limited "${@:2}"
    touch "$logs/$1.done"
}

release_options=(-c release -Xswiftc -enable-testing -Xswiftc -cross-module-optimization -Xswiftc -warnings-as-errors
    --scratch-path "$build/release")
thread_options=(--sanitize=thread -Xswiftc -warnings-as-errors -Xcc -Wall -Xcc -Wextra -Xcc -Werror
    --scratch-path "$build/thread")
tool_options=(--package-path Tests/Tools -c release -Xswiftc -cross-module-optimization -Xswiftc -warnings-as-errors
    --scratch-path "$build/tools")

# The build of the README's commands: every example and test in debug.
debug_build() { once debug swift build --build-tests; }
# Of the tests, Package.swift chooses those that these builds can say more about than the debug build.
release_build() { TETHER_TESTS=threads once release swift build --build-tests "${release_options[@]}"; }
thread_build() { TETHER_TESTS=threads once thread swift build --build-tests "${thread_options[@]}"; }
tools_build() { once tools swift build "${tool_options[@]}"; }
