#!/usr/bin/env bash
# Tests and measures on a machine with an NVIDIA card, within ten minutes; writes logs and JSON to the folder $1, and fails
# when a step does. `./run.sh OUT quick` tests only.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p "${1:?the folder for results}"
out=$(cd "$1" && pwd)
size=${2:-full}
# Keys and what the steps say of themselves, one file each, in the order of their numbers.
work=$(mktemp -d -p "$PWD")
trap 'rm -rf "$work"' EXIT
mkdir "$work/steps" "$work/keys"
export CUZK_DEVELOPMENT_KEYS=$work/keys
if [ -d keys ]; then cp keys/* "$work/keys"; fi
number=100

# Inputs that are small enough for the sanitizer; together they launch every kernel.
small_inputs=(
    gpu_small_quotients_are_exact
    gpu_small_g1_sums_are_those_of_multiples
    gpu_small_g2_sums_are_those_of_multiples
    gpu_small_bitmap_sums_agree_with_plain_sums
    gpu_small_keys_keep_their_bytes
    gpu_small_proofs_have_the_bytes_of_the_reference
    gpu_small_proofs_of_a_streamed_key_have_the_bytes_of_the_reference
    gpu_small_rates_are_measured
    gpu_small_new_keys_pass_their_check
)
# Seconds for each of them under one tool, and how many run at a time.
sanitizer_limit=90
sanitizer_jobs=6

# step NAME SECONDS COMMAND...: runs a command for at most so many seconds; its output goes to NAME.json or NAME.log, and
# what a test or a sanitizer sums up at the end becomes part of the result.
step() {
    number=$((number + 1))
    numbered_step "$number" "$@"
}

numbered_step() {
    local place=$1 name=$2 limit=$3 started ended code summary
    shift 3
    started=$(date +%s.%N)
    case "$*" in
    *--json*) timeout "$limit" "$@" >"$out/$name.json" 2>"$out/$name.log" ;;
    *) timeout "$limit" "$@" >"$out/$name.log" 2>&1 ;;
    esac
    code=$?
    ended=$(date +%s.%N)
    summary=$(grep -hE '^test result:|SUMMARY:' "$out/$name.log" | tr -d '"\\=' | sed 's/^ *//' | paste -sd ';')
    printf '{"step": "%s", "exit_code": %d, "seconds": %.1f, "summary": "%s"}\n' "$name" "$code" \
        "$(echo "$ended $started" | awk '{print $1 - $2}')" "$summary" >"$work/steps/$place"
    echo "$name: exit code $code"
    if [ "$code" != 0 ]; then
        touch "$work/failed"
        tail -n 5 "$out/$name.log"
    fi
}

# skip NAME REASON: a step that is not run.
skip() {
    number=$((number + 1))
    printf '{"step": "%s", "skipped": "%s"}\n' "$1" "$2" >"$work/steps/$number"
    echo "$1: skipped, $2"
}

# sanitize PROGRAM: every small input under every tool, each in a process of its own, so that one that takes too long
# costs no other its result.
sanitize() {
    local tool test
    for tool in memcheck racecheck; do
        for test in "${small_inputs[@]}"; do
            while [ "$(jobs -pr | wc -l)" -ge "$sanitizer_jobs" ]; do wait -n; done
            number=$((number + 1))
            numbered_step "$number" "$tool-$test" "$sanitizer_limit" "$1" --tool "$tool" --error-exitcode 1 \
                ./gpu_conformance --ignored --exact "small_inputs::$test" &
        done
    done
    wait
}

# key CIRCUIT SECONDS: a development key's file.
key() {
    step "key-$1" "$2" ./cuzk key setup --circuit "$1" --device cuda --keys "$CUZK_DEVELOPMENT_KEYS" --json
}

# same_as_cpu CIRCUIT: a proof on the card has the processor's bytes, also when every launch waits for its kernel.
same_as_cpu() {
    local prove=(./cuzk bench proof --circuit "$1" --device cuda --same-as-cpu --json)
    key "$1" 60
    step "same-$1" 60 "${prove[@]}"
    step "same-blocking-$1" 60 env CUDA_LAUNCH_BLOCKING=1 "${prove[@]}"
}

step doctor 30 ./cuzk doctor --json
step loss 60 ./gpu_loss --ignored gpu_a_kernel_that_fails_loses_the_device_for_good
step conformance 240 ./gpu_conformance --ignored --test-threads 4 --skip memory::
# They compare what the driver says of the whole card.
step memory 120 ./gpu_conformance --ignored --test-threads 1 memory::
# A toolkit's sanitizer, where the machine has one.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
if [ -n "$sanitizer" ]; then
    sanitize "$sanitizer"
else
    skip sanitizer "no compute-sanitizer on this machine"
fi
for circuit in porep-2k snap-2k wpost-2k winning-2k; do same_as_cpu "$circuit"; done
if [ "$size" = full ]; then
    peers=()
    for peer in ./sppark_g1 ./sppark_g2; do
        if [ -x "$peer" ]; then peers+=(--peer "$peer"); fi
    done
    step kernels 120 ./cuzk bench kernels --json "${peers[@]}"
    on_card=(--device cuda --json)
    step partition 90 ./cuzk bench partition --circuit porep-32g "${on_card[@]}"
    step porep 120 ./cuzk bench proof --circuit porep-32g --ephemeral -n 3 -j 2 "${on_card[@]}"
    step snap 90 ./cuzk bench proof --circuit snap-32g --ephemeral "${on_card[@]}"
    step wpost 90 ./cuzk bench proof --circuit wpost-32g --sectors 2349 --ephemeral "${on_card[@]}"
    step winning 90 ./cuzk bench proof --circuit winning-32g --ephemeral -n 200 "${on_card[@]}"
    # A card of 16 GiB streams the key from its file, which takes 47 GB.
    if [ "$(df -k --output=avail "$work" | tail -n 1)" -gt 50000000 ]; then
        key porep-32g 120
        small=(--device-memory-limit 16GiB "${on_card[@]}")
        step porep-16g 90 ./cuzk bench proof --circuit porep-32g "${small[@]}"
        step partition-16g 60 ./cuzk bench proof --circuit porep-32g --partitions 1 -j 1 "${small[@]}"
    else
        skip porep-16g "no room for the key's file"
    fi
fi

awk 'BEGIN {print "["} NR > 1 {print ","} {printf "  %s", $0} END {print "\n]"}' "$work"/steps/* >"$out/summary.json"
cat "$out/summary.json"
[ ! -e "$work/failed" ]
