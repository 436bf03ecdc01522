# How steps run, and what they share.

# Whether a step is to run. Prints its name instead, where the steps are only listed.
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

# Waits until at most a number of steps are left in the background. When one has failed, the others may end.
wait_for_running() {
    while (($(jobs -rp | wc -l) > $1)); do wait -n || true; done
    [[ ! -e $logs/failed ]] || { wait; exit 1; }
}

# Runs a step's command. What it prints is kept in a file, and shown if it fails.
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
    # The totals of test runs, and the step's own summary, are worth reading even if nothing failed.
    totals "$log"
    [[ ! -s $logs/$name.summary ]] || cat "$logs/$name.summary"
}

# failures LOG: what failed, once each: issues of Swift Testing, failures of XCTest, compiler errors and traps. Known
# issues are left out: leaks planted on purpose.
failures() {
    grep -aE '^✘ |(^|[^a-z])error: |Fatal error' "$1" | grep -av 'known issue' | awk '!seen[$0]++' | tail -n 15 || true
}

# totals LOG...: the last lines of test runs: those of Swift Testing, and XCTest's last, which is the total of its suites.
totals() {
    awk '/Test run with [1-9][0-9]* tests.* passed/ { print } /Executed [1-9][0-9]* tests?, with/ { total = $0 }
        END { if (total) print total }' "$@"
}

run_steps() {
    local names name
    names=$(is_list=1; steps)
    if ((is_list)); then echo "$names"; return; fi
    for name in "${chosen[@]}"; do
        grep -q "^$name " <<<"$names" || { echo "$name is no step; .ci/run --list names them." >&2; exit 2; }
    done
    rm -f "$logs"/*.{log,summary,done} "$logs/failed"
    steps
    wait_for_running 0
    totals "$logs"/*.log
    echo "All checks passed: $SECONDS s"
}

# Runs a command that may not hang. `swift test` starts the tests in a process group of their own, which would outlive it.
# Therefore the command gets a session, which is ended as a whole.
limited() {
    local session process status=0
    setsid timeout --kill-after=10 $limit "$@" &
    session=$!
    wait $session || status=$?
    if ((status == 124 || status == 137)); then
        echo "Still running after $limit s: $*"
        for process in /proc/[0-9]*; do
            # After the name, which may hold anything: state, parent, group, session.
            if [[ $(sed 's/.*) //' "$process/stat" 2>/dev/null | cut -d' ' -f4) == "$session" ]]; then
                kill -KILL "${process#/proc/}" 2>/dev/null || true
            fi
        done
    fi
    return $status
}

# once NAME COMMAND...: runs a build that several steps use, unless it has been built in this run.
once() {
    [[ ! -e $logs/$1.done ]] || return 0
    limited "${@:2}"
    touch "$logs/$1.done"
}

release_options=(-c release -Xswiftc -enable-testing -Xswiftc -cross-module-optimization -Xswiftc -warnings-as-errors
    --scratch-path "$build/release")
thread_options=(--sanitize=thread -Xswiftc -warnings-as-errors -Xcc -Wall -Xcc -Wextra -Xcc -Werror
    --scratch-path "$build/thread")

# The build of the README's commands: every program and test in debug.
debug_build() { once debug swift build --build-tests; }
release_build() { once release swift build --build-tests "${release_options[@]}"; }
thread_build() { once thread swift build --build-tests "${thread_options[@]}"; }
