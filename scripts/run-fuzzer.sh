#!/usr/bin/env bash
# Usage: run-fuzzer.sh TARGET CORPUS WORKDIR
# Runs a libFuzzer target for FUZZ_SECONDS (20 by default) on the committed
# corpus. New inputs go to WORKDIR/corpus, a failing one to WORKDIR, never into
# the source tree.
set -euo pipefail
target=$1 corpus=$2 work=$3
[[ -d $corpus && -n $(ls -A "$corpus") ]] ||
  { echo "run-fuzzer.sh: the corpus $corpus is empty or missing" >&2; exit 1; }
mkdir -p "$work/corpus"
"$target" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 -rss_limit_mb=2048 \
  -print_final_stats=1 -artifact_prefix="$work/" "$work/corpus" "$corpus"
