#!/usr/bin/env bash
# Tests and measures on a machine with an NVIDIA card, within ten minutes; writes logs and JSON to the folder $1.
# `./run.sh OUT quick` leaves out what takes more than a minute.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p "${1:?the folder for results}"
out=$(cd "$1" && pwd)
size=${2:-full}
results=()

# Inputs that are small enough for the sanitizer; together they launch every kernel.
small_inputs=(
    gpu_small_quotients_are_exact
    gpu_small_g1_sums_are_those_of_multiples
    gpu_small_g2_sums_are_those_of_multiples
    gpu_small_bitmap_sums_agree_with_plain_sums
    gpu_small_keys_keep_their_bytes
    gpu_small_proofs_have_the_bytes_of_the_reference
    gpu_small_rates_are_measured
    gpu_small_new_keys_pass_their_check
)
# Seconds for each of them under one tool, and for all under all tools.
sanitizer_limit=40
sanitizer_limit_in_all=160

# step NAME SECONDS COMMAND...: runs a command for at most so many seconds; its output goes to NAME.json or NAME.log, and
# what a test or a sanitizer sums up at the end becomes part of the result.
step() {
    local name=$1 limit=$2 started ended code summary
    shift 2
    started=$(date +%s.%N)
    case "$*" in
    *--json*) timeout "$limit" "$@" >"$out/$name.json" 2>"$out/$name.log" ;;
    *) timeout "$limit" "$@" >"$out/$name.log" 2>&1 ;;
    esac
    code=$?
    ended=$(date +%s.%N)
    summary=$(grep -hE '^test result:|SUMMARY:' "$out/$name.log" | tr -d '"\\=' | sed 's/^ *//' | paste -sd ';')
    results+=("$(printf '{"step": "%s", "exit_code": %d, "seconds": %.1f, "summary": "%s"}' "$name" "$code" \
        "$(echo "$ended $started" | awk '{print $1 - $2}')" "$summary")")
    echo "$name: exit code $code"
    if [ "$code" != 0 ]; then tail -n 5 "$out/$name.log"; fi
}

# skip NAME REASON: a step that is not run.
skip() {
    results+=("$(printf '{"step": "%s", "skipped": "%s"}' "$1" "$2")")
    echo "$1: skipped, $2"
}

# sanitize PROGRAM: every small input under every tool, each in a process of its own, so that one that takes too long
# costs no other its result.
sanitize() {
    local ends=$((SECONDS + sanitizer_limit_in_all)) tool test left
    for tool in memcheck racecheck; do
        for test in "${small_inputs[@]}"; do
            left=$((ends - SECONDS))
            if [ "$left" -gt "$sanitizer_limit" ]; then left=$sanitizer_limit; fi
            if [ "$left" -gt 0 ]; then
                step "$tool-$test" "$left" "$1" --tool "$tool" --error-exitcode 1 \
                    ./gpu_conformance --ignored --exact "small_inputs::$test"
            else
                skip "$tool-$test" "no time is left for the sanitizer"
            fi
        done
    done
}

step doctor 30 ./cuzk doctor --json
step conformance 220 ./gpu_conformance --ignored --test-threads 1
# A toolkit's sanitizer, where the machine has one.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
if [ -n "$sanitizer" ]; then
    sanitize "$sanitizer"
else
    skip sanitizer "no compute-sanitizer on this machine"
fi
if [ "$size" = full ]; then
    peers=()
    for peer in ./sppark_g1 ./sppark_g2; do
        if [ -x "$peer" ]; then peers+=(--peer "$peer"); fi
    done
    step kernels 180 ./cuzk bench kernels --keys keys --json "${peers[@]}"
fi

printf '%s\n' "${results[@]}" | awk 'BEGIN {print "["} NR > 1 {print ","} {printf "  %s", $0} END {print "\n]"}' >"$out/summary.json"
cat "$out/summary.json"
