"""Looks at a page of grit scan in a headless browser: browse-page.py CHROMIUM PAGE.

The browser is driven through its DevTools pipe (file descriptors 3 and 4, messages of
JSON that end in a NUL byte), which needs nothing but Python.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT = 60


class Browser:
    def __init__(self, program, profile):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def connect():
            # Away from 3 and 4 first: one of the two may be in the way.
            spare = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.input, self.output, self.buffer = ours_in, ours_out, b""
        self.number, self.session, self.events = 0, None, []

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.input, 1 << 16)
            assert piece, "the browser closed its pipe"
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def load(self, address):
        self.events = [e for e in self.events if e.get("method") != "Page.loadEventFired"]
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")


SHOWN = """[...document.querySelectorAll("%s")]
  .filter(e => e.getClientRects().length).map(e => e.textContent)"""


def choose(browser, control, text):
    browser.value(f'(() => {{ const c = document.getElementById("{control}");'
                  f' c.value = {json.dumps(text)};'
                  ' c.dispatchEvent(new Event("input")); })()')


def look(browser, address):
    for domain in ("Page", "Runtime", "Network", "Log"):
        browser.call(f"{domain}.enable")
    browser.load(address)
    findings = browser.value(SHOWN % ".finding")
    tensors = browser.value(SHOWN % "tr.tensor")
    assert len(findings) > 3 and len(tensors) > 5, (findings, tensors)
    assert browser.value('document.getElementById("shown").textContent') == \
        f"{len(findings)} findings shown"
    assert browser.value(SHOWN % "#controls")
    print("with scripts: all findings shown, controls shown")

    choose(browser, "search", "BOLD")
    for everything, kind in ((findings, ".finding"), (tensors, "tr.tensor")):
        found = browser.value(SHOWN % kind)
        assert found == [text for text in everything if "bold" in text.lower()], found
        assert 0 < len(found) < len(everything)
    choose(browser, "search", "")
    print("search 'bold': only matching findings and tensors")

    choose(browser, "severity", "violation")
    found = browser.value(SHOWN % ".finding")
    assert 0 < len(found) < len(findings) and all("violation" in text for text in found)
    choose(browser, "severity", "")
    print("severity 'violation': only violations")

    choose(browser, "basis", "declared")
    found = browser.value(SHOWN % "tr.tensor")
    assert 0 < len(found) < len(tensors) and all("declared" in text for text in found)
    choose(browser, "basis", "")
    print("basis 'declared': only declared tensors")

    sizes = browser.value('[...document.querySelectorAll("svg")].map(e => {'
                          ' const box = e.getBoundingClientRect();'
                          ' return [box.width, box.height]; })')
    assert len(sizes) > 8 and all(w > 50 and 5 < h < 500 for w, h in sizes), sizes
    print("pictures have a size")

    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800,
                 deviceScaleFactor=1, mobile=False)
    assert browser.value("document.documentElement.scrollWidth") <= 400
    browser.call("Emulation.clearDeviceMetricsOverride")
    print("fits 400 pixels")

    # The page's own scripts are off; the questions asked here still work.
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.load(address)
    assert browser.value(SHOWN % ".finding") == findings
    assert browser.value(SHOWN % "tr.tensor") == tensors
    assert not browser.value(SHOWN % "#controls")
    print("without scripts: all findings shown, controls hidden")

    asked = {event["params"]["request"]["url"] for event in browser.events
             if event.get("method") == "Network.requestWillBeSent"}
    errors = [event for event in browser.events
              if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
    print(f"loaded {len(asked)} address, {len(errors)} errors")


def main():
    program, path = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target,
                                           flatten=True)["sessionId"]
            look(browser, pathlib.Path(path).resolve().as_uri())
            browser.session = None
            browser.call("Browser.close")
        finally:
            try:
                browser.process.wait(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                browser.process.kill()


main()
