import Base
import Manifest
import Testing

/// Lists of the people and programs that are notified of the end of runs.
@Suite struct NotifyListTests {
    private func read(_ text: String) -> (NotifyPolicy?, [String]) {
        let (policy, diagnostics) = NotifyReader.read(Array(text.utf8), path: "/l/notify.yaml")
        return (policy, diagnostics.map { "\($0.place.line):\($0.place.column) \($0.message)" })
    }

    @Test func `each way to tell somebody is read`() throws {
        let (policy, faults) = read(
            """
            silent-after: 26h
            sendmail: /opt/bin/sendmail
            targets:
              crew: {mail: crew@example.com, when: [failed, paused]}
              hook: {webhook: "https://example.com/hook?secret=1", key: "file:hook.key"}
              phone: {ntfy: "file:topic.url", token: "credential:ntfy"}
              alerts: {alertmanager: "http://127.0.0.1:9093"}
              watchdog: {healthcheck: "https://hc.example.com/uuid"}
              pager: {program: [/usr/local/bin/page, --now]}
            """
        )
        #expect(faults == [])
        let list = try #require(policy)
        #expect(list.silentAfter == .seconds(26 * 3_600))
        #expect(list.sendmail == "/opt/bin/sendmail")
        #expect(
            list.targets.map(\.name) == ["crew", "hook", "phone", "alerts", "watchdog", "pager"]
        )
        #expect(list.target("crew")?.kinds == [.failed, .paused])
        #expect(list.target("crew")?.wants([.needsPerson, .ended]) == nil)
        #expect(list.target("hook")?.wants([.needsPerson, .ended]) == .needsPerson)
        #expect(list.target("hook")?.wants([.ended]) == nil)
        #expect(list.target("watchdog")?.wants([.ended]) == .ended)
        #expect(list.target("pager")?.way == .program(["/usr/local/bin/page", "--now"]))
        guard case .webhook(let address, let key) = list.target("hook")?.way else {
            Issue.record("no webhook")
            return
        }
        // Anyone who knew the rest of the address could send to it.
        #expect("\(address)" == "https://example.com/…")
        #expect(key.map { "\($0)" } == "file:hook.key")
    }

    @Test(arguments: [
        ("targets: {a: {}}", "1:11 no way is given to notify `a`"),
        (
            "targets: {a: {mail: a@b, ntfy: \"https://x.org/t\"}}",
            "1:11 `a` has more than one way"
        ),
        ("targets: {a: {mail: nobody}}", "1:21 `nobody` is no mail address"),
        (
            "targets: {a: {mail: \"a@b\\nBcc: c@d\"}}",
            "1:21 a text may not hold control characters or line breaks"
        ),
        (
            "targets: {a: {webhook: \"http://example.com/\"}}",
            "1:24 `http://` is not encrypted: others could read and change the notices"
        ),
        (
            "targets: {a: {webhook: \"https://x.org/\", key: 00112233}}",
            "1:47 a secret must be a reference, not the secret itself"
        ),
        ("targets: {a: {program: [page]}}", "1:15 the program has no absolute path"),
        ("targets: {}\nsendmail: sendmail", "2:1 the program `sendmail` is no absolute path"),
        ("silent-after: 26h", "1:1 `notify` needs the key `targets`"),
    ])
    func `a mistake is named at its place`(text: String, fault: String) {
        let (policy, faults) = read(text)
        #expect(policy == nil)
        #expect(faults == [fault])
    }

    @Test func `the nearer list overrules the farther one by name`() throws {
        let far = try #require(
            read("targets: {a: {mail: a@far}, b: {mail: b@far}}\nsilent-after: 2d").0
        )
        let near = try #require(read("targets: {b: {mail: b@near}}").0)
        let policy = far.overruled(by: near)
        #expect(policy.targets.map(\.way) == [.mail("a@far"), .mail("b@near")])
        #expect(policy.silentAfter == .seconds(172_800))
    }
}
