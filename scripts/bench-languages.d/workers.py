"""Workers: programs that run named operations on request, each in its own language."""

import shlex
import subprocess


class Worker:
    def __init__(self, language, command):
        self.language = language
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.names = self._ask("list").split()

    def seconds(self, name, size, times):
        """Returns the seconds that one run of an operation takes, or a reason why it does not run."""
        answer = self._ask(f"{name} {size} {times}")
        if answer.startswith("error"):
            return None, answer.removeprefix("error ")
        return int(answer) / 1e9 / times, None

    def rest(self):
        """Lets the worker free its data."""
        self._ask(f"{self.names[0]} 16 1")

    def stop(self):
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _ask(self, line):
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return f"error the worker of {self.language} ended"
        return answer
