# Follows an active rollout in a browser that stays open while serve is killed and started again; run by
# scripts/look-pages.
import json, os, re, signal, subprocess, sys, time
from playwright.sync_api import sync_playwright

program, folder = sys.argv[1:]
state = folder + "/state"
faults, checked = [], 0

def fault(what):
    faults.append(what)
    print("  not so:", what)

def until(what, test, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = test()
        if got:
            return got
        time.sleep(0.1)
    sys.exit(f"did not happen in time: {what}")

def said(*words):
    out = subprocess.run([program, *words, "--json", "--state", state], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)

def run(pace):
    return subprocess.Popen(
        [program, "run", folder + "/rollout.yaml", "--simulate", folder + "/depot.yaml", "--state", state,
         "--pace", str(pace), "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def serve(listen):
    notes = open(folder + "/serve.err", "w+")
    process = subprocess.Popen([program, "serve", "--open", "--state", state, "--listen", listen], stderr=notes)
    def port():
        notes.seek(0)
        found = re.search(r"serving on http://127\.0\.0\.1:(\d+)/", notes.read())
        return found and found[1]
    return process, "127.0.0.1:" + until("serve to serve", port)

def ended(counts):
    return sum(count for name, count in counts.items() if name != "unfinished")

def numbers(page):
    """The numbers on the page of a rollout."""
    tiles = {one.get_attribute("data-count"): int(one.inner_text()) for one in page.locator(".tiles b").all()}
    waves = []
    for one in page.locator("ol.waves > li").all():
        # The bar is a picture: its pieces are the vehicles of each kind of outcome.
        bar = {piece.get_attribute("class"): int(piece.get_attribute("width")) for piece in one.locator("rect").all()}
        waves.append((one.locator("b").inner_text(), one.locator("small").inner_text(), bar))
    return tiles, waves, int(re.search(r"\brun (\d+)", page.locator("p.facts").first.inner_text())[1])

KINDS = {"succeeded": "good", "already-current": "good", "deferred": "wait", "unreachable": "wait", "skipped": "wait"}

def wave(one):
    """What a page has of a wave of the document."""
    counts, bar = one["counts"], {}
    if one["state"] == "open":
        return f"wave {one['wave']}", "not begun", bar
    for name, count in counts.items():
        if count and name != "unfinished":
            kind = KINDS.get(name, "bad")
            bar[kind] = bar.get(kind, 0) + count
    facts = [f"{ended(counts)} of {one['vehicles']} vehicles ended"]
    facts += [f"{bar[kind]} {word}" for kind, word in (("wait", "missed"), ("bad", "failed")) if kind in bar]
    return f"wave {one['wave']}", ", ".join(facts), bar

def hold(name, got, wanted):
    global checked
    checked += 1
    if got != wanted:
        fault(f"{name}: {got}, and --json says {wanted}")

def compare(page, base):
    """Checks every number on every page, while nothing changes."""
    document = said("status")
    counts = {name: count for name, count in document["counts"].items() if count}
    # Answers from the time when the run wrote are cached for a moment.
    until("the page to be as the journal", lambda: (page.goto(base + "/"), numbers(page)[0] == counts)[1])
    tiles, waves, number = numbers(page)
    hold("tiles", tiles, counts)
    hold("run", number, document["run"])
    # How long a wave took is only on the page.
    hold("waves", [(number, re.sub(", (took .*|over|not over)$", "", text), bar) for number, text, bar in waves],
         [wave(one) for one in document["waves"]])
    heading = page.locator("h2:has-text('Not as they should be')")
    open_ones = page.locator("h2:has-text('Not as they should be') + table tr[data-vehicle]").count()
    if heading.count():
        hold("those that are not as they should be", open_ones, min(50, int(re.search(r"\d+", heading.inner_text())[0])))
    # Each vehicle that needs somebody has its name there; of those that wait, several are only a number.
    todo, counted = {}, 0
    for one in page.locator("ul.attention > li").all():
        links = [link.inner_text() for link in one.locator("a").all()]
        count = int(re.search(r"\((\d+)\)", one.inner_text())[1])
        counted += 0 if links else count
        hold("what to do", len(links) or count, count)
        for link in links:
            todo[link] = todo.get(link, 0) + 1
    wanted, waiting = {}, 0
    for one in document["next"]:
        if one["vehicle"] not in todo and one["work"] == "wait":
            waiting += 1
        else:
            wanted[one["vehicle"]] = wanted.get(one["vehicle"], 0) + 1
    hold("vehicles with something to do", todo, wanted)
    hold("vehicles that wait", counted, waiting)
    # All vehicles, page by page, with clicks.
    page.click("text=All 300 vehicles")
    rows = {}
    while True:
        hold("found", page.inner_text("p[role=status] b"), "300")
        page.wait_for_load_state("load")
        for name, state, text in page.locator("tr[data-vehicle]").evaluate_all(
                "rows => rows.map(row => [row.dataset.vehicle, row.dataset.state, row.innerText])"):
            hold(f"the state of {name}", state in text and name in text, True)
            rows[name] = state
        if not page.locator("text=Further").count():
            break
        page.click("text=Further")
    hold("vehicles", rows, {one["id"]: one.get("outcome") or one["state"] for one in document["vehicles"]})
    for name, count in document["counts"].items():
        if count and name != "unfinished":
            page.goto(base + "/vehicles")
            page.select_option("select[name=state]", name)
            page.click("main form button")
            hold(f"found as {name}", page.inner_text("p[role=status] b"), str(count))
    page.click("nav >> text=History")
    runs = said("history")["runs"]
    rows = page.locator("tr[data-run]").all()
    hold("runs", len(rows), len(runs))
    for row, one in zip(rows, runs):
        cells = {cell.get_attribute("data-label"): cell.inner_text().strip() for cell in row.locator("td").all()}
        hold("a run", (cells["run"], cells["exit"]), (str(one["run"]), str(one["exit"]["code"])))
        for name, outcomes in (("ok", ["succeeded"]), ("current", ["already-current"]), ("unreachable", ["unreachable"])):
            hold(f"run {one['run']}, {name}", cells[name], str(sum(one["counts"].get(o, 0) for o in outcomes)))
    # The pages of a vehicle that failed, and of one that did not.
    for wanted in ("failed", "succeeded"):
        one = next((one for one in document["vehicles"] if one.get("outcome") == wanted), None)
        if one:
            page.goto(base + "/vehicles?q=" + one["id"])
            page.click(f"td a:has-text('{one['id']}')")
            story = said("show", one["id"])
            text = page.inner_text("main")
            for part in (one["id"], one["serial"], story["rollouts"][0]["state"]):
                hold(f"the story of {one['id']} has {part}", part in text, True)

with sync_playwright() as tool:
    browser = tool.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    at_work = run(20)
    until("the journal", lambda: os.path.exists(state + "/journal.sqlite"))
    server, address = serve("127.0.0.1:0")
    base = "http://" + address
    page.goto(base + "/")
    loads = []
    page.on("load", lambda _: loads.append(1))
    def on_page():
        return ended(numbers(page)[0])
    # The page follows the run without being loaded again.
    first = until("a vehicle that has ended", on_page)
    until("further ones on the same page", lambda: on_page() > first)
    before = ended(said("status")["counts"])
    server.send_signal(signal.SIGKILL)
    server.wait()
    until("the page to say that it is cut off", lambda: "connection is lost" in page.inner_text("#link"))
    known = on_page()
    until("the run to go on beside it", lambda: ended(said("status")["counts"]) > max(before, known))
    server, _ = serve(address)
    until("the page to go on by itself", lambda: on_page() > known and not page.inner_text("#link"))
    hold("how often the page was loaded again", len(loads), 0)
    low = ended(said("status")["counts"])
    page.goto(base + "/")
    got, high = on_page(), ended(said("status")["counts"])
    # Answers are cached for a second while the journal changes.
    until("the page to be as the journal", lambda: low <= on_page() <= ended(said("status")["counts"]))
    if at_work.poll() is not None:
        fault("the run was over before anything could be seen of it")
    print(f"live: {first} ended, then {known} when serve was killed, {got} when it was back")
    subprocess.run([program, "pause", "--state", state, "--reason", "look", "--quiet"], check=True)
    hold("exit code of the paused run", at_work.wait(timeout=120), 12)
    compare(page, base)
    hold("the pause on the page", "paused by request: look" in (page.goto(base + "/"), page.inner_text("main"))[1], True)
    subprocess.run([program, "resume", "--state", state, "--quiet"], check=True)
    at_work = run(400)
    until("the next run", lambda: said("status")["run"] == 2)
    server.send_signal(signal.SIGKILL)
    server.wait()
    hold("exit code of the run that ends", at_work.wait(timeout=300), 10)
    server, _ = serve(address)
    compare(page, base)
    browser.close()
    server.terminate()
    server.wait()
print(f"live: {checked} numbers held against --json" + ("" if not faults else f", {len(faults)} are others"))
sys.exit(1 if faults else 0)
