import Store

/// The frame around every page of `serve`: one style sheet, one script, no other resource, nothing
/// inline.
package struct LiveFrame: Sendable {
    package enum Section: String, CaseIterable, Sendable {
        case rollouts, vehicles, morning, history, trends

        var address: String { self == .rollouts ? "/" : "/\(rawValue)" }

        var title: String {
            switch self {
            case .rollouts: "Rollouts"
            case .vehicles: "Vehicles"
            case .morning: "Morning"
            case .history: "History"
            case .trends: "Trends"
            }
        }
    }

    private let section: Section?
    private let title: String
    private let body: String
    /// Whether the page is not reloaded, because it is a form or its result.
    private let isStill: Bool

    /// `body` is HTML.
    package init(_ section: Section?, _ title: String, _ body: String, isStill: Bool = false) {
        self.section = section
        self.title = title
        self.body = body
        self.isStill = isStill
    }

    /// `made` is the time when the journal was read, if it was; `isSignedIn` is nil when signing in
    /// is not required.
    package func text(made: String?, isSignedIn: Bool? = nil) -> String {
        var links = Section.allCases.map { one in
            let current = one == section ? " aria-current=\"page\"" : ""
            return "<a href=\"\(one.address)\"\(current)>\(one.title)</a>"
        }.joined(separator: "\n")
        if let isSignedIn {
            links += "\n<a href=\"/session\">\(isSignedIn ? "Signed in" : "Sign in")</a>"
        }
        let read =
            made.map {
                """
                <p class="facts made">Read at <time>\(Markup.text($0))</time>.
                <span id="link" role="status"></span></p>
                """
            } ?? ""
        let still = isStill ? " data-still" : ""
        let again =
            isStill ? "" : "\n<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(Markup.text(title)) - Yardmaster</title>
            <link rel="stylesheet" href="/style.css">
            <script src="/script.js" defer></script>\(again)
            </head>
            <body>
            <a class="skip" href="#main">To the content</a>
            <header>
            <nav aria-label="Pages">
            \(links)
            </nav>
            </header>
            <main id="main"\(still)>
            \(body)
            \(read)
            </main>
            </body>
            </html>

            """
    }

    /// A page that contains the reason why there is no other.
    package static func refusal(_ title: String, _ sentence: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(Markup.text(title))</title>
        <link rel="stylesheet" href="/style.css">
        </head>
        <body>
        <main>
        <h1>\(Markup.text(title))</h1>
        <p>\(Markup.text(sentence))</p>
        <p><a href="/">To the rollouts</a></p>
        </main>
        </body>
        </html>

        """
    }

    package static let style =
        HTMLStyle.sheet + "\n" + MorningHTML.sheet + "\n" + """
            a { color: inherit; }
            .skip { position: absolute; left: -100vw; }
            .skip:focus { position: static; display: block; padding: 8px 16px; }
            header { border-bottom: 1px solid var(--line); background: var(--card); }
            nav { max-width: 1180px; margin: 0 auto; padding: 0 8px; display: flex; flex-wrap: wrap; }
            nav a { padding: 12px 8px; min-height: 44px; text-decoration: none; }
            nav a[aria-current] { box-shadow: inset 0 -3px 0 var(--text); font-weight: 600; }
            .made { margin-top: 32px; }
            form { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 0 0 16px; }
            label { display: grid; gap: 2px; color: var(--faint); flex: 1 1 180px; min-width: 0; }
            input, select, button { font: inherit; min-height: 44px; padding: 6px 10px; width: 100%;
              color: var(--text); background: var(--ground); border: 1px solid var(--faint); border-radius: 6px; }
            button { width: auto; background: var(--card); }
            .acts { max-width: none; padding: 0; gap: 8px; margin: 16px 0; }
            .acts a { border: 1px solid var(--faint); border-radius: 6px; background: var(--card); }
            .ask { display: grid; max-width: 480px; }
            progress { width: 100%; height: 12px; accent-color: var(--transfer); }
            code { overflow-wrap: anywhere; white-space: pre-wrap; }
            .told { margin: 12px 0 0; padding: 0 0 0 1.2em; list-style: disc; }
            .told li { padding: 2px 0; overflow-wrap: anywhere; }
            .lost { color: var(--bad); font-weight: 600; }
            .tiles { grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); }
            .live td:nth-child(n) { white-space: normal; overflow-wrap: anywhere; min-width: 0; }
            @media (max-width: 760px) {
              .live td { grid-template-columns: 7.5rem minmax(0, 1fr); }
              .live td > * { max-width: 100%; }
              .live thead { display: block; width: 1px; height: 1px; overflow: hidden; }
            }
            @media (min-width: 1000px) {
              .live td:nth-child(n+2):not(:last-child) { white-space: nowrap; }
            }
            .plot { display: block; width: 100%; height: auto; background: var(--card); }
            .plot .line { fill: none; stroke: var(--text); stroke-width: 2; }
            .plot .second { fill: none; stroke: var(--faint); stroke-width: 2; stroke-dasharray: 4 3; }
            .plot .dot { fill: var(--text); }
            .plot rect { fill: var(--mark); }
            @media print {
              header, form, .acts, .pages, .skip, #link { display: none; }
              main { max-width: none; padding: 0; }
            }
            .pages { display: flex; gap: 16px; }
            .pages a { padding: 10px 0; }
            """ + "\n"

    /// Reloads the page's content when the journal has changed, and reports a lost connection.
    ///
    /// All pages can be read without it.
    package static let script = """
        "use strict";
        (function () {
          var main = document.getElementById("main");
          if (!main || main.hasAttribute("data-still")) { return; }
          if (!window.EventSource || !window.fetch) { return; }
          var wanted = false, busy = false;
          function say(text) {
            var link = document.getElementById("link");
            if (link && link.textContent !== text) {
              link.textContent = text;
              link.className = text ? "lost" : "";
            }
          }
          function typing() {
            var one = document.activeElement;
            return one && /^(INPUT|SELECT|BUTTON)$/.test(one.tagName) && main.contains(one);
          }
          function take() {
            if (busy || document.hidden || typing()) { wanted = true; return; }
            wanted = false;
            busy = true;
            fetch(location.href, { cache: "no-cache" }).then(function (answer) {
              if (!answer.ok) { throw new Error(answer.status); }
              return answer.text();
            }).then(function (text) {
              var fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
              if (fresh && !typing()) { main.replaceChildren.apply(main, Array.from(fresh.childNodes)); }
              say("");
            }).catch(function () {
              say("The connection is lost; this is the last known state.");
            }).then(function () {
              busy = false;
              if (wanted) { setTimeout(take, 1000); }
            });
          }
          document.addEventListener("visibilitychange", function () { if (wanted) { take(); } });
          document.addEventListener("focusout", function () {
            setTimeout(function () { if (wanted) { take(); } }, 0);
          });
          var known = null;
          var events = new EventSource("/api/v1/changes");
          events.addEventListener("change", function (event) {
            if (known !== null && known !== event.data) { take(); }
            known = event.data;
          });
          events.addEventListener("open", function () { if (known !== null) { take(); } });
          events.addEventListener("error", function () {
            say("The connection is lost; this is the last known state.");
          });
        })();

        """
}
