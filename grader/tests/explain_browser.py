#!/usr/bin/env python3
"""explain_browser.py BROWSER FOLDER: the pages of `make explain` in headless Chromium.

Prints "ok NAME" or "FAILED NAME: why" for each fact. Every page is opened by file:// with all of
the network behind a proxy that is not there, and any request but the page itself is a failure.
"""

import glob
import os
import sys

from browser import THEMES, WIDTHS, axe_source, browser, check, look, requests, violations
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def check_page(driver, path, axe):
    name = os.path.basename(path)
    address = "file://" + path
    driver.get_log("browser"), requests(driver)
    for theme in THEMES:
        for width in WIDTHS:
            here = f"{name}, {theme}, {width} px"
            look(driver, width, theme)
            driver.get(address)
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            check(f"{here}: no horizontal scroll", wide <= width, f"{wide} px wide")
            outside = driver.execute_script(
                "return [...document.querySelectorAll('main *')].filter(e => e.closest('.box,pre,svg') === null && "
                "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 5)")
            check(f"{here}: nothing sticks out", not outside, outside)
            if axe and (theme, width) in (("light", 1280), ("dark", 360)):
                result = violations(driver, axe)
                check(f"{here}: axe-core has nothing to say", not result, result)
    errors = [entry["message"] for entry in driver.get_log("browser")]
    check(f"{name}: nothing on the console", not errors, errors)
    asked = {one for one in requests(driver) if one.split("#")[0] != address and not one.startswith(("data:", "chrome:"))}
    check(f"{name}: asks for nothing but itself", not asked, asked)
    unlabelled = driver.execute_script(
        "return [...document.querySelectorAll('svg')].filter(s => !(s.getAttribute('role') === 'img' && "
        "s.querySelector('title').textContent && s.querySelector('desc').textContent.length > 40 && "
        "s.getAttribute('aria-labelledby').split(' ').every(i => document.getElementById(i)))).length")
    check(f"{name}: every drawing has title and description", unlabelled == 0, unlabelled)
    repeated = driver.execute_script(
        "const seen = new Set(); return [...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter(i => seen.size === seen.add(i).size).slice(0, 5)")
    check(f"{name}: every id is there once", not repeated, repeated)
    broken = driver.execute_script(
        "return [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"
        ".filter(h => !h.startsWith('#') || !document.getElementById(h.slice(1))).slice(0, 5)")
    check(f"{name}: every link leads somewhere in the page", not broken, broken)


def text_of(driver, selector):
    return driver.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join(' ')",
                                 selector)


def check_given(driver, path):
    """Content and keyboard, on the page of a kernel with bank conflicts."""
    look(driver, 1280, "light")
    driver.get("file://" + path)
    check("the summary names a conflict", "would do; lanes" in text_of(driver, ".summary"), text_of(driver, ".summary"))
    check("banks are drawn", len(driver.find_elements(By.CSS_SELECTOR, "figure svg rect.bad")) > 0)
    check("sectors are drawn", len(driver.find_elements(By.CSS_SELECTOR, "figure svg line.wire")) > 0)
    check("and told in text", "bank " in text_of(driver, "figure pre") and "sector " in text_of(driver, "figure pre"))
    check("waste is marked in words, not by colour alone",
          all("▲" in row.get_attribute("textContent") for row in driver.find_elements(By.CSS_SELECTOR, "tr.waste")))
    card = text_of(driver, ".card")
    check("registers, occupancy and its limiter", all(word in card for word in ("registers", "occupancy", "limited by")), card)
    marked = driver.find_elements(By.CSS_SELECTOR, "tr.waste")
    check("lines are marked", len(marked) >= 2, len(marked))
    number = marked[0].find_element(By.CSS_SELECTOR, ".no").text
    driver.get("file://" + path + "#L" + number)
    top = driver.execute_script("return document.getElementById(arguments[0]).getBoundingClientRect().top", "L" + number)
    check("#L leads to its line", 0 <= top <= 900, f"line {number} at {top} px")
    ratio = driver.execute_script("""
        const lum = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255)
          .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
          return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
        const ground = e => { for (; e; e = e.parentElement) { const b = getComputedStyle(e).backgroundColor;
          if (!/, 0\\)|transparent/.test(b)) return b; } return 'rgb(255, 255, 255)'; };
        let worst = 99;
        for (const e of document.querySelectorAll('body *')) {
          if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.offsetParent) continue;
          const a = lum(getComputedStyle(e).color), b = lum(ground(e));
          worst = Math.min(worst, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)); }
        return worst""")
    check("contrast of all text is 4.5 at least", ratio >= 4.5, ratio)

    # Keyboard: the first stop is the way to the content; every stop is visible and further down or right.
    driver.get("file://" + path)
    body = driver.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    first = driver.switch_to.active_element
    check("the first tab stop skips to the content", first.get_attribute("href").endswith("#main"), first.text)
    order, hidden = [], []
    for _ in range(40):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        here = driver.execute_script(
            "const e = document.activeElement; if (e === document.body) return null; const s = getComputedStyle(e);"
            "return {tag: e.tagName, at: [...document.querySelectorAll('*')].indexOf(e), ring: s.outlineStyle !== 'none',"
            " seen: e.getClientRects().length > 0}")
        if here is None:
            break
        order.append(here["at"])
        if not here["seen"] or not here["ring"]:
            hidden.append(here["tag"])
    check("tab stops follow the page", order == sorted(order) and len(order) >= 5, order)
    check("and show where they are", not hidden, hidden)
    folds = driver.find_elements(By.CSS_SELECTOR, "details > summary")
    driver.execute_script("arguments[0].focus()", folds[0])
    folds[0].send_keys(Keys.ENTER)
    check("folds open by the keyboard", folds[0].find_element(By.XPATH, "..").get_attribute("open") is not None)
    # On paper: all rungs, no navigation.
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = driver.execute_script("return [...document.querySelectorAll('section.rung')].filter(s => !s.offsetHeight).length")
    check("print shows every rung", hidden == 0, hidden)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def check_rungs(driver, path):
    """One rung at a time, by links that the keyboard reaches."""
    look(driver, 1280, "light")
    driver.get("file://" + path)
    shown = "return [...document.querySelectorAll('section.rung')].filter(s => s.offsetHeight).map(s => s.id)"
    check("one rung is shown at first", len(driver.execute_script(shown)) == 1)
    links = driver.find_elements(By.CSS_SELECTOR, "nav a")
    check("there is a link for each", len(links) == len(driver.find_elements(By.CSS_SELECTOR, "section.rung")) > 1)
    driver.execute_script("arguments[0].focus()", links[-1])
    links[-1].send_keys(Keys.ENTER)
    wanted = [links[-1].get_attribute("href").split("#")[1]]
    check("a link shows its rung alone", driver.execute_script(shown) == wanted, driver.execute_script(shown))
    check("and says so", links[-1].get_attribute("aria-current") == "true")
    driver.back()
    check("back goes back", driver.execute_script(shown) != wanted, driver.execute_script(shown))
    # Without script: everything, one after the other.
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get("file://" + path)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    check("without script all rungs are there", len(driver.execute_script(shown)) == len(links))


def check_hostile(driver, path):
    driver.get("file://" + path)
    title = driver.title
    check("hostile source changes nothing", title.startswith("Lab 3"), title)
    check("it is there to read", "</script><script>" in text_of(driver, ".source .code"))
    check("bidi characters are numbers", "\\u202e" in text_of(driver, ".source") and "\u202e" not in driver.page_source)
    check("a wrong result is said first", "of a wrong result" in text_of(driver, ".verdict"))
    check("no foreign element is on the page",
          not driver.find_elements(By.CSS_SELECTOR, "main script, main img, main iframe, main object, main embed"))


def main():
    program, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    axe = axe_source()
    driver = browser(program)
    try:
        pages = sorted(glob.glob(os.path.join(folder, "*.html")))
        check("there are pages", len(pages) >= 4, pages)
        for page in pages:
            check_page(driver, page, axe)
        check_given(driver, os.path.join(folder, "given.html"))
        check_hostile(driver, os.path.join(folder, "wrong.html"))
        if os.path.exists(os.path.join(folder, "solution.html")):
            check_rungs(driver, os.path.join(folder, "solution.html"))
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
