#!/usr/bin/env bash
# Tests and measures on a machine with an NVIDIA card, within ten minutes; writes logs and JSON to the folder $1.
# `./run.sh OUT quick` leaves out what takes more than a minute.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p "${1:?the folder for results}"
out=$(cd "$1" && pwd)
size=${2:-full}
results=()

# step NAME SECONDS COMMAND...: runs a command for at most so many seconds; its output goes to NAME.json or NAME.log.
step() {
    local name=$1 limit=$2 started ended code
    shift 2
    started=$(date +%s.%N)
    case "$*" in
    *--json*) timeout "$limit" "$@" >"$out/$name.json" 2>"$out/$name.log" ;;
    *) timeout "$limit" "$@" >"$out/$name.log" 2>&1 ;;
    esac
    code=$?
    ended=$(date +%s.%N)
    results+=("$(printf '{"step": "%s", "exit_code": %d, "seconds": %.1f}' "$name" "$code" "$(echo "$ended $started" | awk '{print $1 - $2}')")")
    echo "$name: exit code $code"
    if [ "$code" != 0 ]; then tail -n 5 "$out/$name.log"; fi
}

# A toolkit's sanitizer, where the machine has one.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)

step doctor 30 ./cuzk doctor --json
step conformance 240 ./gpu_conformance --ignored --test-threads 1
if [ -n "$sanitizer" ]; then
    # Small inputs through every kernel: under the sanitizer a launch takes a hundred times as long.
    for tool in memcheck racecheck; do
        step "$tool" 100 "$sanitizer" --tool "$tool" --error-exitcode 1 \
            ./gpu_conformance --ignored --test-threads 1 \
            gpu_small gpu_g1_accepts gpu_g2_accepts gpu_g1_bitmap gpu_g2_bitmap gpu_forward gpu_an_uploaded
    done
else
    results+=('{"step": "sanitizer", "skipped": "no compute-sanitizer on this machine"}')
fi
if [ "$size" = full ]; then
    peers=()
    for peer in ./sppark_g1 ./sppark_g2; do
        if [ -x "$peer" ]; then peers+=(--peer "$peer"); fi
    done
    step kernels 170 ./cuzk bench kernels --json "${peers[@]}"
fi

printf '%s\n' "${results[@]}" | awk 'BEGIN {print "["} NR > 1 {print ","} {printf "  %s", $0} END {print "\n]"}' >"$out/summary.json"
cat "$out/summary.json"
