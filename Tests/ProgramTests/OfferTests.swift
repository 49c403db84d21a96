import Base
import Foundation
import Site
import Testing
import Workbench

/// Commands that are offered to people: complete as they are printed, in every folder.
@Suite(.timeLimit(.minutes(3))) struct OfferTests {
    /// A rehearsal in which the van fails and the car is in doubt, in a directory that was named
    /// with a relative path.
    private func rehearsed() throws -> PromiseYard {
        let yard = try PromiseYard(
            bikes: [", faults: [{refuses-init: true}]"],
            car: ", faults: [{no-result: true}]"
        )
        try yard.manifest(family: "[comodule, geotab-go]", steps: "[{command: open-trunk}]")
        try yard.program.write(
            "fleet.csv",
            "id,serial,family,secret,token,steps\n"
                + "b1,00f0000000000001,comodule,file:key,,\"[{update: city}]\"\n"
                + "car,G9-0001,geotab-go,,file:car.token,\n"
        )
        try FileManager.default.createDirectory(
            atPath: yard.program.state,
            withIntermediateDirectories: true
        )
        try yard.program.write(
            "state/notify.yaml",
            "targets: {pager: {program: [/bin/sh, -c, \"cat >> pager\"]}}\n"
        )
        let run = try yard.program.run([
            "run", "yard.yaml", "--simulate", "depot.yaml", "--state", "state", "--quiet",
            "--notify",
        ])
        #expect(run.status == 10, "\(run.output)\(run.errors)")
        for line in offers(in: run.output) { #expect(isComplete(line, yard), "\(line)") }
        return yard
    }

    /// The commands in a text, as they are printed.
    private func offers(in text: String) -> [String] {
        text.split(separator: "\n").flatMap { line -> [String] in
            guard let start = line.firstRange(of: /(sudo -u [^ ]+ )?yardmaster [a-z]/) else {
                return []
            }
            let rest = line[start.lowerBound...]
            // In a sentence a command stands in quotation marks, or at its end.
            let quoted = line[..<start.lowerBound].last == "'"
            guard quoted else {
                return [String(rest.prefix { $0 != "#" }.split(separator: ", then ")[0])]
            }
            return line.split(separator: "'").map(String.init).filter {
                $0.hasPrefix("yardmaster ") || $0.hasPrefix("sudo -u ")
            }
        }.map {
            $0.replacing(/\ says (who|what) .*$/, with: "").trimmingCharacters(in: .whitespaces)
        }
    }

    /// Whether a line names everything that it needs.
    private func isComplete(_ line: String, _ yard: PromiseYard) -> Bool {
        let paths = line.split(separator: " ").filter { $0.contains("/") || $0.hasSuffix(".yaml") }
        let isRun = line.contains("yardmaster run") || line.contains("yardmaster exec")
        return paths.allSatisfy { $0.hasPrefix("/") }
            && (line.contains("yardmaster validate") || line.contains(" --state /"))
            && (!isRun || line.contains(" --simulate /"))
    }

    /// Runs a line as a shell in another folder would.
    private func paste(_ line: String) throws -> (status: Int32, text: String) {
        let folder = try Workbench.Scratch()
        let program = URL(filePath: Program.path).deletingLastPathComponent().path
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line + " 2>&1"]
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.environment = ["PATH": program + ":/usr/bin:/bin", "HOME": folder.path]
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `each command that is offered after a rehearsal means it, in every folder`() throws {
        let yard = try rehearsed()
        let program = yard.program
        var offered: Set<String> = []
        for words in [
            ["status"], ["status", "--quiet"], ["status", "--all"], ["morning"], ["show", "car"],
            ["show", "b1"],
        ] {
            let shown = try program.run(words + ["--state", "state"])
            let lines = offers(in: shown.output)
            for line in lines { #expect(isComplete(line, yard), "\(words): \(line)") }
            offered.formUnion(lines)
        }
        let page = try program.run(["status", "--state", "state", "--json"]).output
        for match in page.matches(of: /"line": ?"((?:[^"\\]|\\.)*)"/) {
            let line = String(match.output.1).replacing("\\/", with: "/")
            #expect(isComplete(line, yard), "in JSON: \(line)")
            offered.insert(line)
        }
        // A notice names each command by itself, and the next one.
        let notice = try JSONValue(
            json: try String(contentsOfFile: program.folder.path + "/pager", encoding: .utf8)
        )
        let told =
            (notice["vehicles"]?.array ?? []).flatMap { $0["commands"]?.array ?? [] }
            .compactMap(\.string) + [notice["next"]?.string ?? ""]
        #expect(told.count > 3, "\(notice)")
        // Pages, as a browser shows them.
        let serving = try Serving(program)
        var shown: [String] = []
        for path in ["/", "/rollouts/yard", "/morning", "/vehicles/b1", "/vehicles/car"] {
            let page = try serving.get(path)
            #expect(page.status == 200, "\(path): \(page.status)")
            shown += String(decoding: page.body, as: UTF8.self).matches(
                of: /<code>([^<]*yardmaster [^<]*)<\/code>/
            ).map {
                String($0.output.1).replacing("&#39;", with: "'").replacing("&quot;", with: "\"")
                    .replacing("&amp;", with: "&")
            }
        }
        #expect(shown.contains { $0.contains("yardmaster clear") }, "\(shown)")
        for line in told.flatMap(offers) + shown {
            #expect(isComplete(line, yard), "told: \(line)")
            offered.insert(line)
        }
        #expect(offered.contains { $0.contains("yardmaster clear") }, "\(offered)")
        #expect(offered.contains { $0.contains("yardmaster run") }, "\(offered)")
        #expect(!offered.contains { $0.contains("retry") && $0.hasSuffix("b1") }, "\(offered)")
        // What looks, then what answers, then what works.
        func rank(_ line: String) -> Int {
            ["status", "validate", "clear", "retry", "run"]
                .firstIndex { line.contains("yardmaster \($0)") } ?? 0
        }
        let deeds = yard.deeds.count
        for line in offered.sorted(by: { (rank($0), $0) < (rank($1), $1) }) {
            let answer = try paste(line)
            #expect([0, 10, 11].contains(answer.status), "\(line): \(answer.text)")
            #expect(!answer.text.contains("there is no journal"), "\(line): \(answer.text)")
        }
        #expect(yard.deeds.count >= deeds)
        // A real run in this directory is refused, and offered by nobody.
        #expect(!offered.contains { $0.contains("yardmaster run") && !$0.contains("--simulate") })
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func `a command for somebody else's directory says as whom it is given`() throws {
        let yard = try rehearsed()
        let state = yard.program.state
        try #require(try Workbench.run("chown", "-R", "nobody:", state) == 0)
        for words in [["status"], ["morning"]] {
            let shown = try yard.program.run(words + ["--state", state])
            let lines = offers(in: shown.output)
            #expect(!lines.isEmpty, "\(shown.output)")
            for line in lines {
                #expect(
                    line.hasPrefix("sudo -u nobody yardmaster ") || line.contains("validate"),
                    "\(line)"
                )
            }
        }
    }

    @Test func `retry is offered only where a run would not take the vehicle anyway`() throws {
        let yard = try PromiseYard(bikes: [", faults: [{refuses-init: true}]"])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        #expect(try yard.run().status == 10)
        let morning = try yard.say("morning").output
        #expect(!morning.contains("yardmaster retry"), "\(morning)")
        #expect(morning.contains("yardmaster run --state"), "\(morning)")
        // What is offered does it: the module takes the image by now.
        try yard.depot(bikes: [""])
        #expect(try yard.run().status == 0)
        // The same of a vehicle that has failed and owes nothing.
        let other = try PromiseYard(car: ", faults: [{nack: 4}]")
        try other.manifest(steps: "[{command: lock}]")
        #expect(try other.run().status == 10)
        let words = try other.say("morning").output
        #expect(!words.contains("yardmaster retry"), "\(words)")
        #expect(words.contains("yardmaster run --state"), "\(words)")
    }

    @Test func `a manifest that no unit could read is named, with the folder for it`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        // The folders of tests are where each unit has a folder of its own.
        try #require(yard.program.folder.path.hasPrefix("/tmp/"))
        let path = yard.program.folder.path + "/yard.yaml"
        for words in [
            ["notify", "list", "--manifest", path], ["systemd", "print", path],
            ["systemd", "print", "yard.yaml"],
        ] {
            let shown = try yard.program.run(words)
            #expect(shown.status == 0, "\(words): \(shown.errors)")
            #expect(
                shown.errors.contains("no unit of this machine can read \(path): each has a /tmp"),
                "\(words): \(shown.errors)"
            )
            #expect(shown.errors.contains("put it into /etc/yardmaster"), "\(shown.errors)")
        }
        #expect(UnitSight.warning("/etc/hostname", seesHome: false) == nil)
        #expect(UnitSight.warning("/root/yard.yaml", seesHome: false) != nil)
    }
}
