# How steps run, and what they share.

# The steps that run beside each other now, and the names that exist.
beside=()
names=' '

# Runs a command, its output kept aside and shown if it fails.
run_step() {
    local name=$1 sentence=$2 begin=$SECONDS status=0 log took TIMEFORMAT='%U + %S'
    shift 2
    log=$logs/$name.log
    # A subshell of its own with `set -e`, which `||` would switch off.
    set +e
    { time { (set -e; "$@") >"$log" 2>&1; }; } 2>"$logs/$name.time"
    status=$?
    set -e
    # The processors' time tells more, where other work is done meanwhile.
    took="$((SECONDS - begin)) s, the processors' $(awk '{ print int($1 + $3) }' "$logs/$name.time") s"
    if ((status != 0)); then
        tail -n 400 "$log"
        echo "FAILED: $name ($sentence), status $status, $took; all it printed is in $log"
        exit 1
    fi
    echo "$name ($sentence): $took"
    # What is not only for those who look for a failure.
    [[ ! -s $logs/$name.summary ]] || cat "$logs/$name.summary"
}

# Whether a step is to run. Lists it, where that is what is asked for.
is_chosen() {
    local name=$1 sentence=$2 is_by_default=$3
    names+="$name "
    if ((is_list)); then
        ((is_by_default)) || sentence+=' (long)'
        printf '%-18s %s\n' "$name" "$sentence"
        return 1
    fi
    [[ $chosen == ' ' ]] && return $((!is_by_default))
    [[ $chosen == *" $name "* ]]
}

step() {
    ! is_chosen "$1" "$2" 1 || { wait_for_beside 0; run_step "$@"; }
}

long() {
    ! is_chosen "$1" "$2" $is_long || { wait_for_beside 0; limit=14400; export TETHER_TEST_LIMIT=$limit; run_step "$@"; }
}

beside() {
    is_chosen "$1" "$2" 1 || return 0
    wait_for_beside $(($(nproc) - 1))
    run_step "$@" &
    beside+=($!)
}

# Waits until at most a number of the steps that run beside each other are left. One that fails lets the others end.
wait_for_beside() {
    local ended pid left
    while ((${#beside[@]} > $1)); do
        wait -n -p ended "${beside[@]}" || { wait; exit 1; }
        left=()
        for pid in "${beside[@]}"; do [[ $pid == "$ended" ]] || left+=("$pid"); done
        beside=("${left[@]}")
    done
}

run_steps() {
    local name
    # All names, before a step runs that stands in front of a name that is wrong.
    if ((!is_list)); then
        is_list=1 steps >/dev/null
        for name in $chosen; do
            [[ $names == *" $name "* ]] || { echo "$name is no step; .ci/run --list names them." >&2; exit 2; }
        done
    fi
    rm -f "$logs"/*.summary
    steps
    ((is_list)) && return
    wait_for_beside 0
    echo "All checks passed: $SECONDS s"
}

# Runs a command that may not hang. What `swift test` starts has a process group of its own and would outlive it, so the
# command gets a session, which is ended as a whole.
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

# once NAME COMMAND...: runs a command, unless it has been run in this run: a build that several steps use.
once() {
    local done=$logs/$1.done
    shift
    [[ -s $done && $(<"$done") == $$ ]] && return
    limited "$@"
    echo $$ >"$done"
}

# The build of the README's commands, which is every program's and test's in debug.
debug_build() { once debug swift build --build-tests; }

release_options=(-c release -Xswiftc -enable-testing --scratch-path "$build/release")
release_build() { once release swift build --build-tests "${release_options[@]}"; }
