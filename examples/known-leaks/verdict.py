"""Runs `deadpan lab` on one function and prints one line, as the Rust examples do.

usage: verdict.py trace|timing OPTIONS …

Exit codes: 10 for a leak, 0 if no difference was found, 20 for neither. For the clock, 0 also covers runs whose bound
for the slowest calls stays wide on a busy machine, if the run would have found a shift of the threshold (--delta). A
run that would not is repeated, twice at most.
"""

import json
import os
import subprocess
import sys
import time

# The lab's default for the probability of a false alarm.
ALPHA = 0.01


def measured(command, options):
    deadpan = os.environ["DEADPAN"]
    begin = time.monotonic()
    run = subprocess.run([deadpan, "lab", command, *options, "--json", "-"], capture_output=True, text=True)
    if not run.stdout:
        sys.exit(run.stderr)
    return json.loads(run.stdout)["timing"][0], time.monotonic() - begin


def traced(trace, seconds):
    leak = trace["divergence"]
    secret = [one for one in trace["variable_latency"] if one["secret"]]
    if not leak and secret:
        leak = f"`{secret[0]['instruction']}` in {secret[0]['place']} has operands that depend on the secret"
    if leak:
        return 10, f"LEAK by trace in {seconds:.2f} s: {leak.split('; for source lines')[0]}"
    if trace["skipped"]:
        return 20, f"no trace ({trace['skipped']})"
    what = f"{trace['secrets']} traces of {trace['instructions']} instructions"
    return 0, f"no difference in {what}, {seconds:.2f} s"


def clocked(timing, seconds, delta):
    for pair in timing["pairs"]:
        if pair["verdict"] == "LEAK":
            return 10, f"LEAK by clock in {seconds:.0f} s: {pair['a']} / {pair['b']}: {pair['reason']}"
    # If the lab cannot state how large a difference it would detect, the value is `null`.
    found = max(pair["mde_ns"] or float("inf") for pair in timing["pairs"])
    valid = timing["verdict"] not in ("INVALID", "UNMEASURABLE")
    if valid and all(pair["p_holm"] > ALPHA for pair in timing["pairs"]) and found <= delta:
        return 0, f"no difference by clock in {seconds:.0f} s; a shift of {found:.0f} ns would have been found"
    return 20, "; ".join(f"{pair['verdict']}: {pair['reason']}" for pair in timing["pairs"])


def main(command, options):
    if command == "trace":
        timing, seconds = measured(command, options)
        return traced(timing["trace"], seconds)
    for _ in range(3):
        code, line = clocked(*measured(command, options), float(options[options.index("--delta") + 1]))
        if code != 20:
            break
    return code, line


code, line = main(sys.argv[1], sys.argv[2:])
print(line)
sys.exit(code)
