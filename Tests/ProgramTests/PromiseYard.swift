import Foundation
import Testing

/// A car and a few bikes in one simulated depot, for rollouts over several runs.
struct PromiseYard {
    let program: Program
    /// The families of the car and of the vehicle beside it.
    private let families: String

    /// `bikes` lists the modules, as text that is added to each one's item.
    ///
    /// Instead of them there may be a spare vehicle that only waits.
    init(
        bikes: [String] = [],
        car: String = "",
        link: String = "",
        hasSpare: Bool = false
    ) throws {
        program = try Program()
        try program.copyDemo()
        try program.write("key", Self.key + "\n")
        try program.write("car.token", SampleTokens.good)
        // For cars with a bond: only their refusals count as refusals.
        try program.write("car.passkey", "123456\n")
        var fleet = "id,serial,family,secret,token\n"
        for number in 1...max(bikes.count, 1) where number <= bikes.count {
            fleet += "b\(number),\(Self.serial(number)),comodule,file:key,\n"
        }
        fleet += "car,G9-0001,geotab-go,,file:car.token\n"
        if hasSpare {
            fleet = "id,serial,family,secret,token,steps\ncar,G9-0001,geotab-go,,file:car.token,\n"
            fleet += "spare,\(Self.serial(9)),comodule,file:key,,wait: 1s\n"
        }
        families = hasSpare ? "[geotab-go, comodule]" : "geotab-go"
        try program.write("fleet.csv", fleet)
        try depot(bikes: bikes, car: car, link: link)
    }

    private static let key = "00112233445566778899aabbccddeeff00112233"

    private static func serial(_ number: Int) -> String { "00f000000000000\(number)" }

    /// Sets the contents of the depot for the next run; modules keep their memory.
    func depot(bikes: [String] = [], car: String = "", link: String = "") throws {
        var depot =
            "name: yard\nseed: 4\n\(link)tenant-keys: [\"\(SampleTokens.tenant)\"]\nmodules:\n"
        for (index, more) in bikes.enumerated() {
            depot += "  - {serial: \"\(Self.serial(index + 1))\", key: \"\(Self.key)\", type: 17, "
            depot += "version: \"4.11.3\"\(more)}\n"
        }
        depot += "  - {serial: G9-0001, family: geotab-go, hardware-id: 553845661\(car)}\n"
        try program.write("depot.yaml", depot)
    }

    /// Writes a manifest for the vehicles of this family.
    @discardableResult
    func manifest(
        _ name: String = "yard",
        family: String? = nil,
        steps: String,
        always: String? = nil,
        rollout: String = "{}",
        more: String = ""
    ) throws -> String {
        try program.write(
            "\(name).yaml",
            """
            name: \(name)
            vehicles: {from: fleet.csv, select: {family: \(family ?? families)}}
            images:
              city:
                url: file:demo/city-4.12.0.zip
                sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
                version: "4.12.0"
                fits: {family: comodule, type: 17, variant: 0}
            steps: \(steps)
            \(always.map { "always: \($0)\n" } ?? "")rollout: \(rollout)
            \(more)
            """
        )
    }

    func line(_ name: String = "yard") -> [String] {
        ["run", "\(name).yaml", "--simulate", "depot.yaml", "--state", program.state]
    }

    /// The state directory of another machine at the same depot.
    func state(of gateway: String) throws -> String {
        let (state, shared) = (program.state + "-" + gateway, program.state + "/simulation")
        let files = FileManager.default
        if !files.fileExists(atPath: state) {
            try files.createDirectory(atPath: shared, withIntermediateDirectories: true)
            try files.createDirectory(atPath: state, withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: state + "/simulation",
                withDestinationPath: shared
            )
        }
        return state
    }

    func run(_ name: String = "yard", _ more: String...) throws -> Program.Result {
        try program.run(line(name) + more)
    }

    func say(_ words: String...) throws -> Program.Result {
        try program.run(words + ["--state", program.state])
    }

    func exec(_ vehicle: String, _ order: String, fleet: String = "yard") throws -> Program.Result {
        try program.run([
            "exec", "--manifest", "\(fleet).yaml", "--simulate", "depot.yaml", "--state",
            program.state, vehicle, order,
        ])
    }

    /// Starts a paced run, and ends it with a signal when its events contain `words`.
    @discardableResult
    func cut(
        _ name: String = "yard",
        at words: String,
        with signal: Int32 = SIGKILL,
        pace: Int = 2,
        _ more: String...
    ) throws -> Program.Running {
        let file = "cut-\(UUID().uuidString)"
        let running = try program.begin(file, line(name) + ["--pace", "\(pace)"] + more)
        #expect(running.waits(for: words), "the run was cut where it should be")
        kill(running.process.processIdentifier, signal)
        running.process.waitUntilExit()
        return running
    }

    /// The commands that the car has carried out, from its own record.
    var deeds: [String] {
        let path = program.state + "/simulation/yard.memory.deeds"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
    }

    /// Sets the depot's clock, which is also the run's clock, back to its beginning.
    func setClockBack() throws {
        let file = try FileHandle(
            forUpdating: URL(filePath: program.state + "/simulation/yard.memory")
        )
        try file.seek(toOffset: 16)
        try file.write(contentsOf: Data([1, 0, 0, 0, 0, 0, 0, 0]))
        try file.close()
    }

    func document(_ result: Program.Result) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        )
    }

    /// A vehicle in the document of `run --json` or `status --json`.
    func vehicle(_ id: String, in result: Program.Result) throws -> [String: Any] {
        let list = try #require(try document(result)["vehicles"] as? [[String: Any]])
        return try #require(list.first { ($0["id"] ?? $0["vehicle"]) as? String == id })
    }
}
