import Store

/// A page of `serve`, with its frame: one style sheet, one script, no other resource, nothing inline.
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
    private let content: HTML
    /// Whether the page is not reloaded, because it is a form or its result.
    private let isStill: Bool

    package init(_ section: Section?, _ title: String, _ content: HTML, isStill: Bool = false) {
        self.section = section
        self.title = title
        self.content = content
        self.isStill = isStill
    }

    /// A page of a machine on which nothing has run.
    static func nothing(_ section: Section, _ before: HTML = "") -> LiveFrame {
        LiveFrame(section, section.title, "\(before)<p>Nothing has run here yet.</p>\n")
    }

    /// `made` is the time when the journal was read, if it was; `isSignedIn` is nil when signing in
    /// is not required.
    package func text(made: String?, isSignedIn: Bool? = nil) -> String {
        let links = Section.allCases.map { one -> HTML in
            let current: HTML = one == section ? " aria-current=\"page\"" : ""
            return "<a href=\"\(one.address)\"\(current)>\(one.title)</a>\n"
        }
        let session = isSignedIn.map { isSignedIn -> HTML in
            "<a href=\"/session\">\(isSignedIn ? "Signed in" : "Sign in")</a>\n"
        }
        let read = made.map { made -> HTML in
            "<p class=\"facts made\">Read at <time>\(made)</time>.\n"
                + "<span id=\"link\" role=\"status\"></span></p>\n"
        }
        let again: HTML =
            isStill ? "" : "\n<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>"
        return HTML.page(
            "\(title) - Yardmaster",
            head: """
                \(Self.styleLink)
                <script src="/script.js" defer></script>\(again)
                """,
            top: """
                <a class="skip" href="#main">To the content</a>
                <header>
                <nav aria-label="Pages">
                \(links)\(session)</nav>
                </header>

                """,
            attributes: isStill ? " id=\"main\" data-still" : " id=\"main\"",
            "<h1>\(title)</h1>\n\(content)\(read)"
        )
    }

    private static let styleLink: HTML = "<link rel=\"stylesheet\" href=\"/style.css\">"

    /// A page that contains the reason why there is no other.
    package static func refusal(_ title: String, _ sentence: String) -> String {
        HTML.page(
            title,
            head: styleLink,
            """
            <h1>\(title)</h1>
            <p>\(sentence)</p>
            <p><a href="/">To the rollouts</a></p>

            """
        )
    }

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
