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
            let must = act.verb == .inhibit && act.vehicle == nil ? " required" : ""
            fields += "<label>Why<input name=\"reason\" maxlength=\"200\"\(must)></label>\n"
        }
        if act.verb == .inhibit {
            fields += "<label>For how long, such as 90m or 2d; empty for no limit"
            fields += "<input name=\"for\" maxlength=\"20\"></label>\n"
        }
        let body = """
            <h1>\(Markup.text(title))</h1>
            <p>\(Markup.text(meaning(act)))</p>
            <form class="ask" action="/act" method="post">
            \(fields)<p><button>\(Markup.text(title))</button> <a href="\(back(act))">Cancel</a></p>
            </form>
            """
        return LiveFrame(nil, title, body, isStill: true)
    }

    /// The result of a request.
    package static func done(_ act: LiveAct, _ sentence: String, isRefused: Bool) -> LiveFrame {
        let lines = sentence.split(separator: "\n").map { "<p>\(Markup.text(String($0)))</p>\n" }
        let mark = isRefused ? HTMLReport.Mark.bad : .good
        let body = """
            <h1>\(Markup.text(title(act)))</h1>
            <div class="exit \(mark.rawValue)" role="status">\(isRefused ? "<b>Nothing was changed</b>" : "")
            \(lines.joined())</div>
            <p><a href="\(back(act))">Back</a></p>
            """
        return LiveFrame(nil, title(act), body, isStill: true)
    }

    /// The form for a token; `fault` is the reason why the previous one was refused.
    package static func signIn(fault: String? = nil) -> LiveFrame {
        let fault = fault.map { "<p class=\"exit bad\" role=\"alert\">\(Markup.text($0))</p>\n" }
        let body = """
            <h1>Sign in</h1>
            \(fault ?? "")<form class="ask" action="/session" method="post">
            <label>Your token<input type="password" name="token" autocomplete="current-password" required></label>
            <p><button>Sign in</button></p>
            </form>
            """
        return LiveFrame(nil, "Sign in", body, isStill: true)
    }

    /// The page of the person who has signed in.
    package static func session(_ name: String, role: String, mayAct: Bool, mark: String?)
        -> LiveFrame
    {
        let may = mayAct ? "may look and act" : "may look"
        var body =
            "<h1>Signed in</h1>\n<p><b>\(Markup.text(name))</b> (\(role)): \(may).</p>"
        if let mark {
            body += "\n<form class=\"ask\" action=\"/session/end\" method=\"post\">\n"
            body += hidden(Self.mark, mark) + "<p><button>Sign out</button></p>\n</form>"
        }
        return LiveFrame(nil, "Signed in", body, isStill: true)
    }

    private static func hidden(_ name: String, _ value: String) -> String {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(Markup.text(value))\">\n"
    }

    private static func back(_ act: LiveAct) -> String {
        if let vehicle = act.vehicle { return "/vehicles/\(LiveTarget.escaped(vehicle))" }
        return act.rollout.map { "/rollouts/\(LiveTarget.escaped($0))" } ?? "/"
    }
}
