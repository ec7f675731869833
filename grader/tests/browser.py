"""What the tests in headless Chromium share: a browser behind a proxy that is not there, looks, requests, axe-core.

Their programs print "ok NAME" or "FAILED NAME: why" for each fact; browser.bash counts them.
"""

import glob
import json
import os

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

WIDTHS = (1280, 360)
THEMES = ("light", "dark")
AXE_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


def check(name, condition, why=""):
    print(f"ok {name}" if condition else f"FAILED {name}: {str(why)[:1500]}", flush=True)


def which(name):
    for folder in os.environ["PATH"].split(os.pathsep):
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    raise SystemExit(f"no {name}")


def browser(program):
    options = Options()
    options.binary_location = program
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update", "--no-first-run",
                 "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(os.environ.get("CHROMEDRIVER") or which("chromedriver")), options=options)
    driver.set_page_load_timeout(400)
    driver.set_script_timeout(400)
    return driver


def requests(driver):
    """Addresses that the page asked for since the last call."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            parameters = message["params"]
            found.append(parameters.get("request", parameters).get("url", "?"))
    return found


def look(driver, width, theme):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": theme}]})


def axe_source():
    """The script of axe-core; None, which is said, where its package is not installed."""
    try:
        import axe_playwright_python
    except ImportError:
        print("left out: axe-core (pip install --no-deps axe-playwright-python)", flush=True)
        return None
    found = glob.glob(os.path.join(os.path.dirname(axe_playwright_python.__file__), "**", "axe*.js"), recursive=True)
    return open(found[0], encoding="utf-8").read() if found else None


def violations(driver, axe, rules=AXE_RULES, impacts=None):
    """What axe-core has to say about the page, of these impacts only if they are named."""
    driver.execute_script(axe)
    found = driver.execute_async_script(
        # A colour on its way to another one has no contrast yet.
        "const done = arguments[1]; document.getAnimations().forEach(a => { if (a.effect.getComputedTiming().endTime < Infinity) a.finish(); });"
        "axe.run(document, {runOnly: arguments[0], resultTypes: ['violations'], preload: false})"
        ".then(r => done(r.violations.map(v => [v.impact, v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')])),"
        " e => done([['', String(e)]]))", list(rules))
    return [words for impact, words in found if impacts is None or impact in ("", *impacts)]
