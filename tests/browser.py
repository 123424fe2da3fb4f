"""A headless Chromium that tests drive by chromedriver's HTTP interface (W3C WebDriver), without a client library."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
    "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Home": "\ue011", "End": "\ue010", "Shift": "\ue008",
    "Control": "\ue009",
}  # fmt: skip
CONTRAST = """
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const parse = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
const background = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const bad = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement;
  if (!node.data.trim() || !element.checkVisibility()) continue;
  if (element.closest("title, option, .unseen, dialog:not([open])")) continue;
  const style = getComputedStyle(element);
  const color = parse(element.closest("svg") ? style.fill : style.color);
  const [light, dark] = [luminance(color), luminance(background(element))].sort((a, b) => b - a);
  const size = parseFloat(style.fontSize);
  const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
  const ratio = (light + 0.05) / (dark + 0.05);
  if (ratio < needed) bad.push(`${ratio.toFixed(2)}: ${element.outerHTML.slice(0, 80)}`);
}
return bad;
"""
"""Script: texts whose contrast is below that of WCAG 2.2, success criterion 1.4.3."""

UNNAMED = """
return [...document.querySelectorAll("a, button, input:not([type=hidden]), select")]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.innerText?.trim() || e.textContent?.trim() || e.getAttribute("aria-label") || e.labels?.length))
  .map((e) => e.outerHTML.slice(0, 100));
"""
"""Script: controls without a name."""
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window.

    Args:
        address: The session at chromedriver.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def open(self, url: str) -> None:
        """Go to an address, and wait until the page is loaded and painted: keys before the first frame are dropped."""
        self._call("POST", "/url", {"url": url})
        # Not one asynchronous script: it would be lost if the page opens another one. Pages without scripts and windows
        # that the system does not draw have no frames to wait for.
        watch = "window.watched ??= requestAnimationFrame(() => requestAnimationFrame(() => (window.painted = true)))"
        end = time.monotonic() + 3
        while time.monotonic() < end and not self.run(f"{watch}; return window.painted"):
            time.sleep(0.03)

    @property
    def url(self) -> str:
        """The present address."""
        return str(self._call("GET", "/url"))

    def run(self, script: str, *arguments: object) -> Any:
        """Run JavaScript that returns a value."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *names: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        actions = []
        for name in names:
            value = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def type(self, selector: str, text: str) -> None:
        """Replace the value of a field, as a user does."""
        self.run("const f = document.querySelector(arguments[0]); f.focus(); f.select();", selector)
        self.press(*text)

    def click(self, selector: str) -> None:
        """Click the first element that a CSS selector finds."""
        reference = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{reference[_ELEMENT]}/click", {})

    def text(self, selector: str) -> str:
        """The text of the first element that a CSS selector finds, '' where there is none."""
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def count(self, selector: str) -> int:
        """Number of elements that a CSS selector finds."""
        return int(self.run("return document.querySelectorAll(arguments[0]).length", selector))

    def wait(self, condition: str, *arguments: object, seconds: float = 20) -> Any:
        """Wait until a JavaScript expression is true; returns its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(f"return ({condition})", *arguments):
                return value
            time.sleep(0.03)
        raise AssertionError(f"not within {seconds} s: {condition}\n{self.text('body')[:2000]}")

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the page, and whether the user prefers dark colors."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def devtools(self, command: str, **parameters: object) -> Any:
        """A command of the DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self._call("GET", "/screenshot"))

    def logs(self) -> list[str]:
        """Messages of the console since the last call, such as violations of the content security policy."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def requests(self) -> set[str]:
        """Hosts that the pages have asked since the last call."""
        hosts = set()
        for entry in self._call("POST", "/se/log", {"type": "performance"}):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                hosts.add(urlsplit(event["params"]["request"]["url"]).netloc)
        return hosts

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return call(method, self._address + path, body)


def call(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    """One command of WebDriver; raises AssertionError with the message of a failed one."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.loads(error.read())["value"]["message"]) from None


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A window for the block; the test is skipped where Chromium or chromedriver is not installed.

    Args:
        folder: Folder for the profile.
    """
    if CHROMIUM is None or CHROMEDRIVER is None:
        pytest.skip("chromium and chromedriver are not installed")
    with subprocess.Popen(
        [CHROMEDRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as driver:
        try:
            port = _port(driver)
            options = {
                "binary": CHROMIUM,
                "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,900", f"--user-data-dir={folder}"],
            }  # fmt: skip
            capabilities = {
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            session = call("POST", f"http://127.0.0.1:{port}/session", {"capabilities": {"alwaysMatch": capabilities}})
            address = f"http://127.0.0.1:{port}/session/{session['sessionId']}"
            try:
                yield Browser(address)
            finally:
                call("DELETE", address)
        finally:
            driver.terminate()


def _port(driver: subprocess.Popen[str]) -> int:
    """The port that chromedriver chose, which it prints."""
    assert driver.stdout is not None
    for line in driver.stdout:
        if "started successfully on port" in line:
            return int(line.rstrip().rstrip(".").split()[-1])
    raise AssertionError("chromedriver did not start")
