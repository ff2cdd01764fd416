"""Headless Chromium, driven over a pipe by the DevTools protocol: open a page, move the mouse, press keys, read."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

KEYS = {"Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "End": 35, "Enter": 13}


def found():
    """The browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page.  `problems` has what its console complained of, and requests to a network."""
    def __init__(self, width=1280, height=800):
        self.folder = tempfile.mkdtemp(prefix="ravel-browser-")
        to, self.commands = os.pipe()
        self.answers, out = os.pipe()

        def ends():
            os.dup2(os.dup(to), 3), os.dup2(os.dup(out), 4)
        self.process = subprocess.Popen(
            [found(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--user-data-dir=" + self.folder, "about:blank"],
            preexec_fn=ends, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to), os.close(out)
        self.rest, self.number, self.session, self.problems = b"", 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands), os.close(self.answers)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 16)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        m = json.loads(text)
        self.note(m.get("method"), m.get("params", {}))
        return m

    def note(self, method, p):
        if method == "Runtime.exceptionThrown":
            self.problems.append(p["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.problems.append(p["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "about:", "data:")):
            self.problems.append("request of " + p["request"]["url"])

    def send(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params, **({"sessionId": self.session} if self.session else {})}
        os.write(self.commands, json.dumps(m).encode() + b"\0")
        while True:
            m = self.message()
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError("%s: %s" % (method, m["error"]))
                return m["result"]

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path):
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def js(self, expression):
        """The value of an expression of the page."""
        r = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(r["exceptionDetails"]["exception"]["description"])
        return r["result"].get("value")

    def centre(self, selector):
        box = self.js("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center', inline: 'center'});"
                      " const b = e.getBoundingClientRect(); return [b.x + b.width/2, b.y + b.height/2]; })()" % json.dumps(selector))
        return {"x": box[0], "y": box[1]}

    def hover(self, selector):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", **self.centre(selector))

    def click(self, selector):
        at = self.centre(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def put(self, selector, value):
        """Give an input or a select a value, as a user who types it."""
        self.js("(() => { const e = document.querySelector(%s); e.value = %s; e.dispatchEvent(new Event('input', {bubbles: true})); })()"
                % (json.dumps(selector), json.dumps(str(value))))

    def text(self, selector):
        return self.js("document.querySelector(%s).textContent" % json.dumps(selector))

    def picture(self, path, full=False):
        r = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))
