"""class_browser.py BROWSER REPORT_FOLDER: the report of a class in headless Chromium, in both themes, on a desk and on a phone.

Prints "ok NAME" or "FAILED NAME: why" for each fact."""
import pathlib
import sys

from browser import THEMES, WIDTHS, axe_source, browser, check, look, requests, violations
from selenium.webdriver.common.by import By

STICKS_OUT = """return [...document.querySelectorAll('body *')].filter(e => e.closest('.wide,pre,svg') === null &&
    e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 5)"""


def check_page(driver, path, axe):
    driver.get_log("browser"), requests(driver)
    for theme in THEMES:
        for width in WIDTHS:
            here = f"{path.name}, {theme}, {width} px"
            look(driver, width, theme)
            driver.get(f"file://{path}")
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            check(f"{here}: no horizontal scroll", wide <= width, f"{wide} px wide")
            outside = driver.execute_script(STICKS_OUT)
            check(f"{here}: nothing sticks out", not outside, outside)
            if axe and (theme, width) in (("light", 1280), ("dark", 360)):
                result = violations(driver, axe, impacts=("critical", "serious"))
                check(f"{here}: axe-core has nothing serious to say", not result, result)
    errors = [entry["message"] for entry in driver.get_log("browser")]
    check(f"{path.name}: nothing on the console", not errors, errors)
    asked = {one for one in requests(driver) if one.split("#")[0] != f"file://{path}" and not one.startswith(("data:", "chrome:"))}
    check(f"{path.name}: asks for nothing but itself", not asked, asked)


def check_filter(driver, path):
    look(driver, 1280, "light")
    driver.get(f"file://{path}")
    button = driver.find_element(By.CSS_SELECTOR, "#speed button[data-tag$=':fail']")
    driver.execute_script("arguments[0].click()", button)
    found = int(driver.find_element(By.ID, "shown").text.split()[0])
    check("a click on those who are too slow lists them", found == int(button.text.split()[0]), f"{found} rows, {button.text}")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    axe, driver = axe_source(), browser(program)
    try:
        for path in (folder / "index.html", folder / "students/s00004.html", folder / "students/s00037.html"):
            check_page(driver, path, axe)
        check_filter(driver, folder / "index.html")
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
