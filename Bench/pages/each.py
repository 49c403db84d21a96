# Checks each page at each width, in light, dark and for print; run by scripts/look-pages.
import os, re, sys
from playwright.sync_api import sync_playwright
from axe_playwright_python.sync_playwright import Axe

base, token, act, pictures = sys.argv[1:]
faults = []

def fault(what):
    faults.append(what)
    print("  not so:", what)

def look(page, address, name, axe):
    said = []
    page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
    answer = page.goto(base + address, wait_until="load")
    if answer.status >= 400:
        fault(f"{name}: {answer.status}")
    # The paint is reported a little later than the end of loading.
    paint = page.wait_for_function(
        "() => (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime").json_value()
    if paint > 1000:
        fault(f"{name}: first paint after {paint:.0f} ms")
    wide, room = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    if wide > room:
        fault(f"{name}: {wide} px wide in a window of {room} px")
    small = page.evaluate("""() => Array.from(document.querySelectorAll('header a, button, .acts a'))
        .filter(one => one.offsetHeight > 0 && one.offsetHeight < 44).length""")
    if small:
        fault(f"{name}: {small} links and buttons are too low for a finger")
    found = []
    if axe:
        for one in Axe().run(page).response["violations"]:
            nodes = "; ".join(" ".join(map(str, node["target"])) for node in one["nodes"][:3])
            found.append(f"{one['id']} ({one['impact']}): {nodes}")
            if one["impact"] in ("serious", "critical"):
                fault(f"{name}: {found[-1]}")
    for text in said:
        fault(f"{name}: {text}")
    if pictures:
        os.makedirs(pictures, exist_ok=True)
        page.screenshot(path=f"{pictures}/{re.sub('[^a-z0-9]+', '-', name.lower())}.png")
    print(f"{name}: {paint:.0f} ms" + "".join("\n  " + one for one in found))

with sync_playwright() as tool:
    browser = tool.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    cookies = None
    for width in (320, 390, 1280):
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page = context.new_page()
            if cookies is None:
                page.goto(base + "/session")
                page.fill("input[name=token]", token)
                page.click("main button")
                if page.url != base + "/":
                    fault(f"nobody was signed in: {page.url}")
                cookies = context.cookies()
            context.add_cookies(cookies)
            page.goto(base + "/vehicles")
            vehicle = page.get_attribute("td a[href^='/vehicles/']", "href")
            page.close()
            places = ["/", "/vehicles", "/vehicles?q=nobody", vehicle, "/morning", "/history",
                      "/history/run?run=1", "/history/compare?before=1&after=1", "/trends",
                      "/session", "/act?request=inhibit"]
            for place in places:
                page = context.new_page()
                look(page, place, f"{place} {width} px {scheme}", axe=True)
                page.close()
            context.close()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies(cookies)
    for place in ("/", "/morning", vehicle):
        page = context.new_page()
        page.emulate_media(media="print")
        look(page, place, f"{place} print", axe=False)
        if page.is_visible("header nav") or page.is_visible(".acts"):
            fault(f"{place}: what can only be clicked is printed")
        sheets = len(re.findall(rb"/Type\s*/Page[^s]", page.pdf()))
        cards = page.locator("article").count()
        if place == "/morning" and sheets > (cards + 3) // 4 + 2:
            fault(f"{place}: {cards} cards on {sheets} sheets, and a sheet has room for four")
        print(f"  {sheets} sheets")
        page.close()
    if act:
        page = context.new_page()
        page.goto(base + "/")
        for verb, words in (("Pause", "paused"), ("Resume", "goes on")):
            page.click(f".acts a:has-text('{verb}')")
            page.click("main button")
            if words not in page.inner_text("main"):
                fault(f"{verb}: {page.inner_text('main')}")
            page.click("text=Back")
        page.close()
    browser.close()
print("everything is as it should be" if not faults else f"{len(faults)} faults")
sys.exit(1 if faults else 0)
