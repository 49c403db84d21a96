package import Base
import Store

/// Makes the pages of `serve`, each in its own file.
package struct LivePage {
    /// Whether the viewer may send requests.
    let mayAct: Bool
    /// Formats a time for people.
    let time: (WallTime) -> String

    package init(mayAct: Bool = false, time: @escaping (WallTime) -> String) {
        self.mayAct = mayAct
        self.time = time
    }

    package func morning(_ page: MorningPage) -> LiveFrame {
        LiveFrame(.morning, MorningHTML.title, MorningHTML(page, time: time).content)
    }

    /// Says that a list has the runs of one rollout, with a link to that of all.
    func filter(_ rollout: String?, at address: String) -> HTML {
        guard let rollout else { return "" }
        return
            "<p class=\"facts\">of the rollout \(rollout); <a href=\"\(address)\">of all</a></p>\n"
    }
}
