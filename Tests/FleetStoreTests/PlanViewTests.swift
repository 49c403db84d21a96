import Base
import Manifest
import Operations
import Show
import Testing

/// What is shown of a plan, as a fleet keeps it.
@Suite struct PlanViewTests {
    private let manifest = """
        name: city
        vehicles:
          - {id: bus-1, serial: a1, family: comodule, profile: generic, secret: "file:key", plate: "1'2"}
          - {id: bus-2, serial: a2, family: comodule, profile: generic, secret: "file:key"}
          - {id: bus-3, serial: a3, family: comodule, profile: generic, secret: "file:key", plate: "34"}
        steps: [{read: [speed]}]
        notify: {targets: {hook: {webhook: "https://example.com/very-secret"}}}
        rollout:
          waves: [1, rest]
          pause-when: {failed: 2}
          between-waves: {soak: 5m}
          quarantine-after: 4
          window: {from: "22:00", for: 2h, zone: Europe/Tallinn}

        """

    private func plan() throws -> FrozenPlan {
        let bytes = Array(manifest.utf8)
        let read = try ManifestReader.read(path: "/etc/yard/city.yaml") {
            (path, _) throws(FileError) in
            guard path == "/etc/yard/city.yaml" else {
                throw FileError(path: path, reason: .missing)
            }
            return bytes
        }
        return try #require(read.plan, "\(read.diagnostics)")
    }

    @Test func `what is shown of a plan is the same after it was kept, and no secret is in it`()
        throws
    {
        let own = PlanView(try plan())
        let text = own.text
        let kept = try #require(PlanView(text: text))
        #expect(kept.waves == own.waves && kept.waves.map(\.count) == [1, 2])
        #expect(kept.gates == own.gates && !kept.gates.isEmpty)
        #expect(kept.soak == .seconds(300) && kept.quarantineAfter == 4)
        #expect(kept.zone == "Europe/Tallinn" && kept.manifest == "city.yaml")
        #expect(kept.vehicles.map(\.id) == own.vehicles.map(\.id))
        #expect(kept.vehicles.map(\.serial) == own.vehicles.map(\.serial))
        #expect(kept.vehicles[0].labels == [Label("plate", "1'2")])
        #expect(kept.vehicles[1].labels.isEmpty && kept.vehicles[2].profile == "generic")
        #expect(!text.contains("secret") && !text.contains("example.com") && !text.contains("key"))
        #expect(PlanView.mark(of: kept.text) == PlanView.mark(of: text))
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"form":"yardmaster-view-2","vehicles":[]}"#,
        #"{"form":"yardmaster-view-1","vehicles":[["bus"]]}"#,
        #"{"form":"yardmaster-view-1","vehicles":[["bus","a1","comodule","generic",-1]]}"#,
        #"{"form":"yardmaster-view-1","vehicles":[["bus","a1","comodule","generic",99999999999]]}"#,
        #"{"form":"yardmaster-view-1","vehicles":[["","a1","comodule","generic",0]]}"#,
    ])
    func `what no program has written is no plan`(text: String) {
        #expect(PlanView(text: text) == nil)
    }
}
