"""How far a measurement is, for a terminal."""
import sys
import time


class Pace:
    """Counts the cases that are done; says nothing where standard error is no terminal."""
    def __init__(self, cases):
        self.cases, self.began, self.shown = cases, time.monotonic(), sys.stderr.isatty()

    def text(self, done):
        """", 12 cases a minute, 3:20 left" by the cases that are done, once there is one."""
        if not done:
            return ""
        seconds = time.monotonic() - self.began
        return ", %.3g cases a minute, %d:%02d left" % (60*done/seconds, *divmod(round(seconds*(self.cases - done)/done), 60))

    def show(self, line, done, end="\n"):
        if self.shown:
            print(line + self.text(done), end=end, file=sys.stderr, flush=True)
