import Base
import Commands
import Foundation
import Testing
import Workbench

/// Checks the units of `systemd print`, also with systemd's own programs.
@Suite struct ServiceUnitsTests {
    private static let hasSystemd: ConditionTrait = .enabled(
        if: Tool.isInstalled("systemd-analyze"),
        "systemd-analyze is not installed"
    )
    /// `systemd-analyze verify` reads units as the manager does, and needs the manager's folder: it
    /// makes this folder where systemd has not made it.
    private static let readsUnits: ConditionTrait = .enabled(
        if: geteuid() == 0 || FileManager.default.fileExists(atPath: "/run/systemd"),
        "systemd does not run here, and systemd-analyze needs root then"
    )

    private var templates: ServiceUnits { ServiceUnits(program: ProgramTests.path) }

    private var rollout: ServiceUnits {
        var rollout = ServiceUnits.Rollout(
            name: "tallinn-4.12",
            manifest: "/root/ops/100% of it/a \"b\" $HOME;'c'.yaml"
        )
        rollout.opens = ["*-*-* 01:30:00 Europe/Tallinn"]
        rollout.credentials = ["ee-2", "ee-1", "ee-2"]
        rollout.connectTimeout = .seconds(45)
        rollout.needsNetwork = false
        return ServiceUnits(program: ProgramTests.path, rollout: rollout)
    }

    @Test(hasSystemd, readsUnits)
    func `systemd finds no fault in the units of a watched folder`() throws {
        let units = BundleUnits(
            program: ProgramTests.path,
            folder: "/srv/100% of it",
            target: "/srv/roll outs",
            keys: ["/etc/yardmaster/office.pub"],
            threshold: "1"
        )
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = try [units.service, units.path].map { unit in
            let file = folder.appending(path: unit.name)
            try Data(unit.text.utf8).write(to: file)
            return file.path(percentEncoded: false)
        }
        let result = try #require(Tool("systemd-analyze")).run(["verify", "--man=no"] + paths)
        let ours = result.errors.split(separator: "\n").filter { $0.contains("yardmaster") }
        #expect(ours == [])
        #expect(result.status == 0)
    }

    private var served: ServiceUnits.Unit {
        var rollout = ServiceUnits.Rollout(name: "tallinn", manifest: "/srv/city/tallinn.yaml")
        rollout.server = .init(
            "office",
            writing: "/srv/city/tallinn.servers.yaml",
            beginsAgain: true
        )
        return ServiceUnits(program: ProgramTests.path, rollout: rollout).service
    }

    @Test func `a night from an update server asks it before the run, and reports after it`() {
        let program = ProgramTests.path
        let sync = "-\(program) sync --quiet --server office /srv/city/tallinn.yaml"
        // The minus: a server that is away stops no night. Without work there is no run.
        #expect(
            values("ExecCondition", served)
                == [sync, "/usr/bin/test -e /srv/city/tallinn.servers.yaml"]
        )
        #expect(values("ExecStopPost", served) == [sync])
        let run = values("ExecStart", served)
        #expect(run.count == 1 && run[0].hasPrefix("\(program) run --again --report "))
        #expect(run[0].hasSuffix("$YARDMASTER_FLAGS /srv/city/tallinn.servers.yaml"))
        #expect(values("ReadWritePaths", served) == ["/srv/city"])
        // A report takes its time at the end of a run, and more than a stop of a run.
        #expect(values("TimeoutStopSec", served) == ["1320s"])
        for unit in [templates.service, rollout.service] {
            for key in ["ExecCondition", "ExecStopPost", "ReadWritePaths"] {
                #expect(values(key, unit).isEmpty)
            }
        }
    }

    @Test(hasSystemd, readsUnits)
    func `systemd finds no fault in the unit of a night from an update server`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: served.name)
        try Data(served.text.utf8).write(to: file)
        let result = try #require(Tool("systemd-analyze")).run([
            "verify", "--man=no", file.path(percentEncoded: false),
        ])
        let ours = result.errors.split(separator: "\n").filter { $0.contains("yardmaster") }
        #expect(ours == [])
    }

    @Test func `print makes the unit of a night from an update server for its manifest`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "served-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let manifest = folder.appending(path: "city.yaml")
        let text = """
            name: city
            vehicles: [{id: B-1, serial: tag-1, family: mcumgr}]
            steps: [{wait: 5s}]
            rollout: {again: daily}
            """
        try Data(text.utf8).write(to: manifest)
        let program = Tool(path: ProgramTests.path)
        let line = ["systemd", "print", "--unit", "service", "--server", "office"]
        let made = try program.run(line + [manifest.path(percentEncoded: false)])
        #expect(made.status == 0 && made.output.contains("city.servers.yaml\nExecStopPost=-"))
        // The manifest itself says when the rollout begins again.
        #expect(!made.output.contains("--again"))
        #expect(try program.run(line).status == 64)
        let fixed = text.replacing("wait: 5s", with: "update: {to: a}")
        try Data((fixed + "\nimages: {a: {path: a, version: 1.0, fits: {family: mcumgr}}}").utf8)
            .write(to: manifest)
        #expect(try program.run(line + [manifest.path(percentEncoded: false)]).status == 65)
    }

    /// The values of a key, in the order of the file.
    private func values(_ key: String, _ unit: ServiceUnits.Unit) -> [String] {
        unit.text.split(separator: "\n").filter { $0.hasPrefix(key + "=") }
            .map { String($0.dropFirst(key.utf8.count + 1)) }
    }

    /// Writes the units into a new folder, with an instance name in the template's name.
    private func written(_ units: ServiceUnits) throws -> (folder: URL, paths: [String]) {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let paths = try [units.service, units.timer].map { unit in
            let name = unit.name.replacing("@.", with: "@tallinn.")
            try Data(unit.text.utf8).write(to: folder.appending(path: unit.name))
            try Data(unit.text.utf8).write(to: folder.appending(path: name))
            return folder.appending(path: name).path(percentEncoded: false)
        }
        return (folder, paths)
    }

    @Test(hasSystemd, readsUnits, arguments: [false, true])
    func `systemd finds no fault in the units`(isTemplate: Bool) throws {
        let (folder, paths) = try written(isTemplate ? templates : rollout)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try #require(Tool("systemd-analyze"))
            .run(["verify", "--man=no"] + paths)
        // Other units of this machine are not checked.
        let ours = result.errors.split(separator: "\n").filter { $0.contains("yardmaster") }
        #expect(ours == [])
        #expect(result.status == 0)
    }

    /// Every service that is installed or printed.
    private var services: [ServiceUnits.Unit] {
        let notify = NotifyUnits(program: ProgramTests.path)
        let bundles = BundleUnits(
            program: ProgramTests.path,
            folder: "/srv/bundles",
            target: "/srv/rollouts",
            keys: ["/etc/yardmaster/office.pub"],
            threshold: nil
        )
        return [
            templates.service, rollout.service, notify.failure, notify.service, bundles.service,
            ServeUnits(program: ProgramTests.path).service,
        ]
    }

    @Test(hasSystemd, readsUnits)
    func `systemd counts every service as well shut in`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for unit in services {
            let file = folder.appending(path: unit.name)
            try Data(unit.text.utf8).write(to: file)
            // Exposure from 0 to 10; a threshold of 20 is 2.0.
            let result = try #require(Tool("systemd-analyze")).run([
                "security", "--offline=true", "--no-pager", "--threshold=20",
                file.path(percentEncoded: false),
            ])
            #expect(result.status == 0, "\(unit.name): \(result.output.suffix(300))")
        }
    }

    /// Otherwise a rollout could read the secrets of every other one.
    @Test func `a rollout by the template gets the credentials of its own folder only`() {
        #expect(
            values("LoadCredential", templates.service) == ["depot:/etc/yardmaster/credentials/%i"]
        )
        #expect(values("SetCredential", templates.service) == ["depot:none"])
    }

    @Test(hasSystemd)
    func `the times of the timers are calendar expressions`() throws {
        let tool = try #require(Tool("systemd-analyze"))
        for units in [templates, rollout] {
            let expression = try #require(values("OnCalendar", units.timer).first)
            let result = try tool.run(["calendar", expression])
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("Next elapse: "))
        }
        #expect(try tool.run(["calendar", "*-*-* 01:00:00 Europe/Nowhere"]).status != 0)
    }

    @Test(
        hasSystemd,
        arguments: [
            "22:00-05:00", "mon-thu 22:00-05:00", "sat-mon,wed 08:00 for 2h",
            "2026-12-24 10:00-12:00",
            "2026-11-28..2027-02-03 04:00-05:00", "12-20..01-06 10:00-11:00", "12-24 10:00-11:00",
            "02-20..03-02 10:00-11:00", "first mon 10:00-11:00", "third sun,last fri 22:00-23:00",
        ],
        ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"]
    )
    func `systemd begins a timer with each opening of a window`(text: String, name: String) throws {
        let tool = try #require(Tool("systemd-analyze"))
        let opening = try Opening(text)
        let bytes = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))
        let times = OpenTimes([opening], zone: try Zone(Array(bytes)))
        let start = try Date("2026-01-10T00:00:00Z", strategy: .iso8601)
        let ours = times.next(
            40,
            after: WallTime(milliseconds: Int64(start.timeIntervalSince1970) * 1_000)
        )
        .map { String($0.opens.description.prefix(19)).replacing("T", with: " ") }
        var theirs: Set<String> = []
        for expression in opening.calendarExpressions(zone: name) {
            let result = try tool.run(
                ["calendar", "--iterations=40", "--base-time=2026-01-10 00:00:00 UTC", expression],
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"]
            )
            #expect(result.status == 0, "\(expression): \(result.errors)")
            for line in result.output.split(separator: "\n") {
                let isTime = line.contains("Next elapse:") || line.contains("Iter. #")
                guard isTime, line.hasSuffix(" UTC") else { continue }
                theirs.insert(String(line.dropLast(4).suffix(19)))
            }
        }
        #expect(!ours.isEmpty)
        // Openings that touch are one for us, and each is one for a timer.
        #expect(ours == Array(theirs.sorted().prefix(ours.count)), "\(text)")
    }

    @Test func `every exit code is a success, is tried again, or calls somebody`() throws {
        let service = templates.service
        let fine = values("SuccessExitStatus", service).flatMap { $0.split(separator: " ") }
        let grave = values("RestartPreventExitStatus", service).flatMap { $0.split(separator: " ") }
        #expect(fine == ["11", "15", "130", "143"])
        #expect(Set(fine).isDisjoint(with: grave))
        let again = ExitCode.allCases.map { Substring("\($0.rawValue)") }
            .filter { $0 != "0" && !fine.contains($0) && !grave.contains($0) }
        #expect(again == ["69", "75"])
        // systemd allows no other kind of restart for a oneshot service.
        #expect(values("Type", service) == ["oneshot"])
        #expect(values("Restart", service) == ["on-failure"])
        #expect(values("RestartForceExitStatus", service) == [])
    }

    @Test func `a stop has time for a connection attempt and a transfer that stands still`() {
        #expect(values("TimeoutStopSec", templates.service) == ["120s"])
        #expect(values("TimeoutStopSec", rollout.service) == ["135s"])
        #expect(values("KillMode", templates.service) == ["mixed"])
    }

    @Test func `a rollout's units have its window, its credentials and its path`() {
        let (service, timer) = (rollout.service, rollout.timer)
        #expect(service.name == "yardmaster-tallinn-4.12.service")
        #expect(timer.name == "yardmaster-tallinn-4.12.timer")
        #expect(values("OnCalendar", timer) == ["*-*-* 01:30:00 Europe/Tallinn"])
        #expect(
            values("LoadCredential", service) == [
                "ee-1:/etc/yardmaster/credentials/ee-1", "ee-2:/etc/yardmaster/credentials/ee-2",
            ]
        )
        #expect(values("ProtectHome", service) == ["read-only"])
        #expect(!service.text.contains("network-online"))
        #expect(
            values("ExecStart", service).first?.hasSuffix(
                " $YARDMASTER_FLAGS \"/root/ops/100%% of it/a \\\"b\\\" $$HOME;'c'.yaml\""
            ) == true
        )
    }

    @Test(arguments: [
        ("/etc/a.yaml", "/etc/a.yaml"), ("a b", "\"a b\""), ("%i", "%%i"), ("$A", "$$A"),
        ("a\\b", "\"a\\\\b\""), ("a\nb", "\"a\\nb\""), ("", "\"\""), ("it's", "\"it's\""),
    ])
    func `a word stays one word for systemd`(text: String, word: String) {
        #expect(ServiceUnits.word(text) == word)
    }

    @Test func `print writes both, one, or a document`() throws {
        let program = Tool(path: ProgramTests.path)
        let units = ServiceUnits(program: "/usr/bin/yardmaster")
        let line = ["systemd", "print", "--program", "/usr/bin/yardmaster"]
        let both = try program.run(line)
        #expect(
            both.output == "# /etc/systemd/system/yardmaster@.service\n" + units.service.text
                + "\n# /etc/systemd/system/yardmaster@.timer\n" + units.timer.text
        )
        #expect(try program.run(line + ["--unit", "timer"]).output == units.timer.text)
        let document = try JSONValue(json: try program.run(line + ["--json"]).output)
        #expect(document["units"]?.array?.count == 2)
        #expect(document["units"]?.array?.first?["text"]?.string == units.service.text)
        try Golden.expect(units.service.text, equals: "yardmaster@.service")
        try Golden.expect(units.timer.text, equals: "yardmaster@.timer")
    }
}
