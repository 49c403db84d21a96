"""Takes pictures of a page, light and dark; used by scripts/pictures.

shoot.py ADDRESS NAME writes NAME-light.png and NAME-dark.png.
"""

import sys

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1000, 700


def main(address, name):
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            page.goto(address, wait_until="load")
            page.screenshot(path=f"{name}-{scheme}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
