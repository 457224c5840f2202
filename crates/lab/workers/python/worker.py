"""A worker for `deadpan lab`: the lab measures Python functions in the Python process that runs them.

    deadpan lab timing --worker 'python3 worker.py'

To measure a function of your own, copy this file and change TARGETS. docs/lab-worker.md describes the protocol.
"""

import gc
import hmac
import platform
import struct
import sys
import time


def halves(data):
    return data[: len(data) // 2], data[len(data) // 2 :]


def early_exit(left, right):
    for a, b in zip(left, right):
        if a != b:
            return False
    return True


# Each target: its name, the parts of its input, the classes that the lab compares, a function that makes the arguments
# from the input (not timed), and the function to measure. The measured function must not change its arguments.
TARGETS = [
    ("early-exit", "secret:32,public:32", "first,last", halves, early_exit),
    ("compare-digest", "secret:32,public:32", "first,last", halves, hmac.compare_digest),
]

VERSION = 1
NO_CALL = 0xFFFFFFFF
HELLO = f"""language: Python
runtime: {platform.python_implementation()} {platform.python_version()}
clock: time.perf_counter_ns
hertz: 1000000000
warm-up: 1000
"""


def measure(prepare, call, data, repeats, before, within, clock=time.perf_counter_ns):
    # Each measurement gets new objects, because an object may store results of earlier calls, such as its hash.
    arguments = prepare(data)
    for _ in range(before):
        pass
    start = clock()
    for _ in range(repeats):
        call(*arguments)
    for _ in range(within):
        pass
    return clock() - start


def read(source, count):
    data = source.read(count)
    if len(data) < count:
        # The lab has closed the pipe.
        raise EOFError
    return data


def serve(targets, source, sink):
    """Answers requests until `source` ends."""
    hello = HELLO + "".join(f"target: {name} {parts} {classes}\n" for name, parts, classes, _, _ in targets)
    sink.write(b"DPWK" + struct.pack("<II", VERSION, len(hello.encode())) + hello.encode())
    gc.freeze()
    gc.disable()
    while True:
        sink.flush()
        number, target, repeats, slots, length = struct.unpack("<5I", read(source, 20))
        data = read(source, slots * (8 + length))
        prepare, call = ((lambda _: ()), (lambda: None)) if target == NO_CALL else targets[target][3:]
        repeats = 0 if target == NO_CALL else repeats
        ticks = []
        for place in range(0, len(data), 8 + length):
            before, within = struct.unpack_from("<II", data, place)
            input_bytes = data[place + 8 : place + 8 + length]
            ticks.append(measure(prepare, call, input_bytes, repeats, before, within))
        # Garbage is collected only between the requests.
        gc.collect()
        sink.write(struct.pack(f"<II{slots}Q", number, slots, *ticks))


def main():
    sink = sys.stdout.buffer
    # The output of a target goes to standard error, because the lab reads standard output.
    sys.stdout = sys.stderr
    try:
        serve(TARGETS, sys.stdin.buffer, sink)
    except EOFError:
        pass


if __name__ == "__main__":
    main()
