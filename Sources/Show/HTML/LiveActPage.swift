import Base
import Store

/// Pages that confirm a request before it is made and show its result; signing in and out.
package enum LiveActPage {
    /// The fields of our forms.
    package static let mark = "mark"
    package static let token = "token"

    static func title(_ act: LiveAct) -> String {
        let whom = act.vehicle ?? (act.verb.takesRollout ? act.rollout : nil)
        let name = whom.map { " \($0.visible)" } ?? ""
        switch act.verb {
        case .pause: return "Pause\(name)"
        case .resume: return "Resume\(name)"
        case .abort: return "Abort\(name)"
        case .retry: return act.vehicle == nil ? "Retry the failed vehicles" : "Retry\(name)"
        case .inhibit: return act.vehicle == nil ? "Leave the depot alone" : "Leave\(name) alone"
        case .uninhibit: return act.vehicle == nil ? "Use the depot again" : "Use\(name) again"
        case .clear: return act.vehicle == nil ? "Forget failures" : "Clear\(name)"
        }
    }

    /// The effect of a request, in the words of the commands' help.
    private static func meaning(_ act: LiveAct) -> String {
        switch act.verb {
        case .pause:
            "Nothing new is begun from now on; work that is under way is finished first."
        case .resume:
            "The next run continues. Earlier failures no longer count at the gate."
        case .abort:
            "This is permanent: nothing is tried again, and vehicles that were not begun end as "
                + "aborted. A module in the middle of an update is finished first."
        case .retry:
            act.vehicle == nil
                ? "Failed, unreachable and deferred vehicles are tried again. Completed steps "
                    + "stay done."
                : "The vehicle is tried again. When a command of it is in doubt, you confirm that "
                    + "it was not carried out: it may be sent again."
        case .inhibit:
            "Nothing is begun there from now on. A run that is working on a vehicle finishes "
                + "the current step."
        case .uninhibit: "Runs may work there again."
        case .clear:
            act.vehicle == nil
                ? "The failures of all vehicles are forgotten."
                : "You confirm that you have looked: an update that is not proven is owed no more, "
                    + "a command in doubt counts as done, and failures are forgotten."
        }
    }

    /// The links with which operators begin a request.
    static func links(_ acts: [LiveAct]) -> HTML {
        let links = acts.map { "<a href=\"\($0.address)\">\(title($0))</a>\n" as HTML }
        return "<nav class=\"acts\" aria-label=\"What you can do\">\n\(links)</nav>\n"
    }

    /// The form of one request.
    package static func form(_ act: LiveAct, mark: String) -> LiveFrame {
        let title = title(act)
        var fields = hidden("request", act.verb.rawValue) + hidden(Self.mark, mark)
        if let rollout = act.rollout { fields += hidden("rollout", rollout) }
        if let vehicle = act.vehicle {
            fields += hidden("vehicle", vehicle)
        } else if act.verb.takesDepot {
            fields += hidden("all", "yes")
        }
        if [.pause, .abort, .inhibit].contains(act.verb) {
            let must: HTML = act.verb == .inhibit && act.vehicle == nil ? " required" : ""
            fields += "<label>Why<input name=\"reason\" maxlength=\"200\"\(must)></label>\n"
        }
        if act.verb == .inhibit {
            fields += "<label>For how long, such as 90m or 2d; empty for no limit"
            fields += "<input name=\"for\" maxlength=\"20\"></label>\n"
        }
        let buttons: HTML =
            "<button>\(title)</button> <a href=\"\(back(act))\">Cancel</a>"
        return LiveFrame(
            nil,
            title,
            "<p>\(meaning(act))</p>\n\(ask("/act", fields, buttons))",
            isStill: true
        )
    }

    /// The result of a request.
    package static func done(_ act: LiveAct, _ sentence: String, isRefused: Bool) -> LiveFrame {
        let lines = sentence.split(separator: "\n").map { "<p>\($0)</p>\n" as HTML }
        let mark = isRefused ? HTML.Mark.bad : .good
        let refused: HTML = isRefused ? "<b>Nothing was changed</b>" : ""
        let content: HTML = """
            <div class="exit \(mark.rawValue)" role="status">\(refused)
            \(lines)</div>
            <p><a href="\(back(act))">Back</a></p>

            """
        return LiveFrame(nil, title(act), content, isStill: true)
    }

    /// The form for a token; `fault` is the reason why the previous one was refused.
    package static func signIn(fault: String? = nil) -> LiveFrame {
        let fault = fault.map { "<p class=\"exit bad\" role=\"alert\">\($0)</p>\n" as HTML }
        let field: HTML = """
            <label>Your token<input type="password" name="token" autocomplete="current-password" required></label>

            """
        let content = "\(fault)\(ask("/session", field, "<button>Sign in</button>"))" as HTML
        return LiveFrame(nil, "Sign in", content, isStill: true)
    }

    /// The page of the person who has signed in.
    package static func session(_ name: String, role: String, mayAct: Bool, mark: String?)
        -> LiveFrame
    {
        let may = mayAct ? "may look and act" : "may look"
        let end = mark.map {
            ask("/session/end", hidden(Self.mark, $0), "<button>Sign out</button>")
        }
        return LiveFrame(
            nil,
            "Signed in",
            "<p><b>\(name)</b> (\(role)): \(may).</p>\n\(end)",
            isStill: true
        )
    }

    private static func ask(_ address: String, _ fields: HTML, _ buttons: HTML) -> HTML {
        """
        <form class="ask" action="\(address)" method="post">
        \(fields)<p>\(buttons)</p>
        </form>

        """
    }

    private static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">\n"
    }

    private static func back(_ act: LiveAct) -> String {
        if let vehicle = act.vehicle { return "/vehicles/\(LiveTarget.escaped(vehicle))" }
        return act.rollout.map { "/rollouts/\(LiveTarget.escaped($0))" } ?? "/"
    }
}
