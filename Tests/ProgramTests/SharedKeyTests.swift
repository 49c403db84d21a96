import Base
import Families
import Foundation
import Manifest
import Operations
import Radio
import Simulation
import Store
import Testing
import Workbench
import Yard

/// Vehicles that share a key: it is never replaced, and a split ends the sharing.
@Suite(.timeLimit(.minutes(5))) struct SharedKeyTests {
    private static let old = "d0c5000000000000000000000000000000000001"

    private let program: Program

    init() throws { program = try Program() }

    private func serial(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00a0" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: program.rehearsed(name), encoding: .utf8)
    }

    /// A fleet whose rows name these secrets; only rows of the yard "one" are selected.
    private func write(_ rows: [(secret: String, yard: String)], lineEnd: String = "\n") throws {
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/keys",
            withIntermediateDirectories: true
        )
        try program.write("keys/depot.key", Self.old + "\n")
        var list = "id,serial,family,yard,secret,note" + lineEnd
        for (number, row) in rows.enumerated() {
            list += "b\(number + 1),\(serial(number + 1)),comodule,\(row.yard),\(row.secret),"
            list += "\"a, b\"" + lineEnd + (number == 0 ? lineEnd : "")
        }
        try program.write("fleet.csv", list)
        try program.write(
            "depot.yaml",
            "name: keys\nseed: 9\nmodules:\n  - {serial: \"\(serial(1))\", "
                + "count: \(rows.count), key: \"\(Self.old)\", type: 17, version: \"4.11.3\"}\n"
        )
        try program.write(
            "yard.yaml",
            """
            name: yard
            vehicles: {from: fleet.csv, select: {yard: one}}
            steps: [{read: state_of_charge}]
            settle: {quiet: 2s, confirm-gap: 200ms, deadline: 2m}

            """
        )
    }

    private func command(_ words: String..., more: [String] = []) -> [String] {
        words + ["yard.yaml", "--simulate", "depot.yaml", "--state", program.state] + more
    }

    /// The ways in which a second row names the key of the first.
    enum Way: String, CaseIterable {
        case samePath, otherPath, symbolicLink, hardLink, otherYard, keptBefore

        var isSelected: Bool { self != .otherYard }
    }

    @Test(arguments: Way.allCases)
    func `a key that another vehicle names, too, is not replaced`(way: Way) throws {
        let secret =
            switch way {
            case .samePath, .otherYard: "file:keys/depot.key"
            case .otherPath: "file:keys/../keys/depot.key"
            case .symbolicLink, .hardLink: "file:keys/link.key"
            case .keptBefore: "file:keys/depot.key.before"
            }
        try write([
            ("file:keys/depot.key", "one"), (secret, way.isSelected ? "one" : "two"),
        ])
        let keys = program.folder.path + "/keys/"
        switch way {
        case .samePath, .otherPath, .otherYard: break
        case .symbolicLink:
            try FileManager.default.createSymbolicLink(
                atPath: keys + "link.key",
                withDestinationPath: "depot.key"
            )
        case .hardLink:
            try FileManager.default.linkItem(atPath: keys + "depot.key", toPath: keys + "link.key")
        case .keptBefore: try program.write("keys/depot.key.before", Self.old + "\n")
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: keys).sorted()
        let list = try text("fleet.csv")
        let attempts = [
            command("secrets", "rotate"),
            command("secrets", "rotate", more: ["--limit", "b1"]),
            [
                "exec", "--manifest", "yard.yaml", "--simulate", "depot.yaml", "--state",
                program.state, "b1", "rotate secret",
            ],
            [
                "enrol", "--list", "fleet.csv", "--state", program.state, "--simulate",
                "depot.yaml", "--rotate", "b1",
            ],
        ]
        for attempt in attempts {
            let result = try program.run(attempt)
            #expect(result.status == 65, "\(attempt): \(result.output)\(result.errors)")
            #expect(result.errors.contains("is also the key of b2"), "\(result.errors)")
            #expect(result.errors.contains("--split"), "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: keys).sorted() == before)
            #expect(try text("keys/depot.key") == Self.old + "\n")
            #expect(try text("fleet.csv") == list)
        }
    }

    @Test func `a key of twenty thousand vehicles is asked about for each of them`() throws {
        let reference = try SecretReference("file:keys/depot.key", relativeTo: program.folder.path)
        guard case .file(let file) = reference else { return }
        let holders = try (1...20_000).map { number in
            SecretHolder(
                try #require(VehicleID("b\(number)")),
                reference,
                at: Place(file: "fleet.csv", line: number, column: 1)
            )
        }
        let shared = SharedSecrets(holders, credentials: nil)
        // With a list of the others for each of them, this would not come to an end.
        let sharers = holders.map { shared.others(than: $0.vehicle, at: file.path) }
        #expect(sharers.allSatisfy { !$0.isEmpty })
        #expect(sharers.last?.text == "b1, b2, b3 and 19996 more")
        let own = SharedSecrets([holders[0]], credentials: nil)
        #expect(own.others(than: holders[0].vehicle, at: file.path).isEmpty)
    }

    @Test func `a shared key is a warning of validate and of secrets check`() throws {
        try write((1...5).map { _ in ("file:keys/depot.key", "one") })
        let valid = try program.run(["validate", "yard.yaml"])
        #expect(valid.status == 0, "\(valid.errors)")
        #expect(
            valid.errors.contains("is the key of 5 vehicles: b1, b2, b3 and 2 more"),
            "\(valid.errors)"
        )
        let audit = try program.run(["secrets", "check", "yard.yaml"])
        #expect(audit.status == 0, "\(audit.errors)")
        #expect(audit.output.contains("also the key of 4 other vehicles"), "\(audit.output)")
        #expect(audit.output.contains("0 refused, 5 shared"), "\(audit.output)")
    }

    @Test func `a split gives each vehicle a key of its own in place, and rotates it`() throws {
        try write(
            (1...4).map { _ in ("file:keys/depot.key", "one") } + [("file:keys/depot.key", "two")],
            lineEnd: "\r\n"
        )
        // Somebody else's file has the name that the split would choose.
        try program.write("keys/b3.key", "not a key of this fleet\n")
        let split = try program.run(command("secrets", "rotate", more: ["--split"]))
        #expect(split.status == 0, "\(split.output)\(split.errors)")
        #expect(split.errors.contains("4 vehicles have a key file of their own"), "\(split.errors)")
        #expect(split.lastLine.hasPrefix("rollout=yard-secrets ok=4 "), "\(split.lastLine)")
        let names = ["b1.key", "b2.key", "b3-1.key", "b4.key"]
        let rows = try text("fleet.csv").components(separatedBy: "\r\n")
        #expect(rows[0] == "id,serial,family,yard,secret,note")
        #expect(rows[2].isEmpty, "an empty line stays")
        for (number, name) in names.enumerated() {
            let row = rows[number == 0 ? 1 : number + 2]
            #expect(
                row
                    == "b\(number + 1),\(serial(number + 1)),comodule,one,file:keys/\(name),\"a, b\""
            )
            let path = program.rehearsed("keys/" + name)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try text("keys/\(name).before") == Self.old + "\n")
        }
        let keys = try names.map { try text("keys/\($0)") }
        #expect(Set(keys).count == 4 && !keys.contains(Self.old + "\n"))
        // The fifth vehicle, which is in no rollout of this manifest, still opens by it.
        #expect(try text("keys/depot.key") == Self.old + "\n")
        #expect(try text("keys/b3.key") == "not a key of this fleet\n")
        let run = try program.run(command("run"))
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.lastLine.contains(" ok=4 "), "\(run.lastLine)")
    }

    @Test func `a rollout that was begun before a split goes on with the new files`() throws {
        try write((1...2).map { _ in ("file:keys/depot.key", "one") })
        let first = try program.run(command("run", more: ["--limit", "b1"]))
        #expect(first.status == 0, "\(first.output)\(first.errors)")
        _ = try program.run(command("run"))
        let split = try program.run(command("secrets", "rotate", more: ["--split"]))
        #expect(split.status == 0, "\(split.output)\(split.errors)")
        let run = try program.run(command("run", more: ["--again"]))
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.lastLine.contains(" ok=2 "), "\(run.lastLine)")
    }

    @Test func `a module that leaves service takes no key from the others`() throws {
        try write((1...2).map { _ in ("file:keys/depot.key", "one") })
        try program.write("maker.key", Self.old + "\n")
        let undone = try program.run([
            "enrol", "--list", "fleet.csv", "--state", program.state, "--simulate", "depot.yaml",
            "--undo", "--old-secret", "file:maker.key", "b1",
        ])
        #expect(undone.status == 0, "\(undone.output)\(undone.errors)")
        #expect(try text("keys/depot.key") == Self.old + "\n")
        #expect(try !text("fleet.csv").contains("b1,"))
        // A rehearsal would take its own copy of the file.
        let files = FileManager.default.enumerator(atPath: program.state)
        let names = (files?.compactMap { $0 as? String }) ?? []
        #expect(!names.contains { $0.hasSuffix(".undone") }, "\(names)")
    }

    @Test func `sixty vehicles that share a key, killed at every write, keep every module`() throws
    {
        let yard = try SharedYard(60)
        try yard.run { yard in try await yard.live() }
    }
}

/// Modules in simulated air that share a key, and processes that die while they end that.
private final class SharedYard: Sendable {
    private static let shared = [UInt8](repeating: 0x11, count: 20)

    private let simulation = Simulation(seed: 11)
    private let folder: Scratch
    private let count: Int
    private let profile: Profile

    init(_ count: Int) throws {
        self.count = count
        folder = try Scratch()
        profile = try #require(ProfileLibrary.shipped.profile(Profile.generic, of: .comodule))
        try FileManager.default.createDirectory(
            atPath: folder.path + "/keys",
            withIntermediateDirectories: true
        )
        try write("keys/depot.key", Hex.text(Self.shared) + "\n")
        try write(
            "fleet.csv",
            "id,serial,family,secret\n"
                + (1...count).map { "b\($0),\(Self.serial($0)),comodule,file:keys/depot.key\n" }
                .joined()
        )
        try write(
            "yard.yaml",
            "name: yard\nvehicles: {from: fleet.csv}\nsteps: [{rotate: secret}]\n"
        )
    }

    private static func serial(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00a0" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private func write(_ name: String, _ text: String) throws {
        let url = URL(filePath: folder.path + "/" + name)
        try Data(text.utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path())
    }

    func run(_ body: @escaping @Sendable (SharedYard) async throws -> Void) throws {
        try simulation.run { () async -> Result<Void, any Error> in
            await self.simulation.air.addAdapter("hci0")
            await self.simulation.air.arrange { world in
                for number in 1...self.count {
                    guard let serial = Serial(Self.serial(number)) else { continue }
                    var plan = ModulePlan(serial: serial)
                    plan.key = Self.shared
                    world.add(plan)
                }
            }
            do { return .success(try await body(self)) } catch { return .failure(error) }
        }.get()
    }

    /// The keys that the modules accept, as they know them.
    private func accepted() async -> [[UInt8]] {
        await simulation.air.arrange { world in
            world.modules(ComoduleModule.self).map(\.settings.key)
        }
    }

    private func kept() throws -> Set<[UInt8]> {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/keys")
        return Set(
            try names.map { name in
                let text = try String(
                    contentsOfFile: folder.path + "/keys/" + name,
                    encoding: .utf8
                )
                return Hex.bytes(text.trimmingCharacters(in: .newlines)) ?? []
            }
        )
    }

    private func expectKeys(_ moment: String) async throws {
        let kept = try kept()
        let lost = await accepted().enumerated().filter { !kept.contains($0.element) }
        #expect(lost.isEmpty, "\(moment): no file opens \(lost.map { "b\($0.offset + 1)" })")
    }

    private func plan() throws -> FrozenPlan {
        let path = folder.path + "/yard.yaml"
        return try #require(try ManifestReader.read(path: path).plan).rotating
    }

    private func split(_ plan: FrozenPlan) throws -> SecretSplit {
        try SecretSplit(
            plan,
            for: plan.vehicles,
            by: SharedSecrets(plan.holders, credentials: nil),
            within: .real
        )
    }

    func live() async throws {
        // A process that dies after its first, second, … file, and one that dies before the list.
        for number in 0...count {
            let copies = try split(try plan()).copies
            #expect(copies.count == count)
            for copy in copies.prefix(number) { try copy.write() }
            try await expectKeys("file \(number)")
        }
        let list = folder.path + "/fleet.csv"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: list)
        try split(try plan()).rewriteList()
        let mode = try FileManager.default.attributesOfItem(atPath: list)[.posixPermissions]
        #expect(mode as? Int == 0o640)
        try await expectKeys("the list")
        let plan = try plan()
        #expect(try split(plan).copies.isEmpty)
        for vehicle in plan.vehicles {
            guard case .file(let file)? = vehicle.secret else { continue }
            for death in DyingKeeper.Write.allCases {
                let keeper = DyingKeeper(
                    files: SecretFiles(Reach.real.own(file.path), maker: nil),
                    death: death
                )
                await #expect(throws: EnrolFault.self, "\(vehicle.id) dies at \(death)") {
                    try await self.rotate(vehicle, keeper)
                }
                try await expectKeys("\(vehicle.id) after \(death)")
            }
            let files = SecretFiles(Reach.real.own(file.path), maker: nil)
            try await rotate(vehicle, DyingKeeper(files: files, death: nil))
        }
        try await expectAll(plan)
    }

    private func rotate(_ vehicle: PlannedVehicle, _ keeper: DyingKeeper) async throws(EnrolFault) {
        let enroller = Enroller(
            EnrolTarget(
                vehicle: vehicle.id,
                serial: vehicle.serial,
                profile: profile,
                bond: .unbonded
            ),
            keeper: keeper,
            central: SimulatedRadio(adapter: "hci0", air: simulation.air),
            time: simulation.time,
            searchingFor: .seconds(20),
            chance: {
                var source = SystemRandomNumberGenerator()
                return source.next()
            },
            unless: { false }
        )
        _ = try await enroller.enrol(rotating: true)
    }

    /// In the end there is a file for each module, and the module has its key.
    private func expectAll(_ plan: FrozenPlan) async throws {
        let accepted = await accepted()
        #expect(Set(accepted).count == count && !accepted.contains(Self.shared))
        var paths: Set<String> = []
        for (number, vehicle) in plan.vehicles.enumerated() {
            guard case .file(let file)? = vehicle.secret else { continue }
            paths.insert(file.path)
            let text = try String(contentsOfFile: file.path, encoding: .utf8)
            #expect(Hex.bytes(text.trimmingCharacters(in: .newlines)) == accepted[number])
        }
        #expect(paths.count == count)
        #expect(try kept().contains(Self.shared), "the shared file stays")
    }
}

/// The files of one vehicle, whose process dies right after one kind of write.
private struct DyingKeeper: EnrolmentKeeper {
    enum Write: CaseIterable { case pending, before, promoted }

    let files: SecretFiles
    let death: Write?

    private func dies(after write: Write) throws(EnrolFault) {
        if death == write { throw EnrolFault(.refused, "killed", hint: "") }
    }

    func secrets() throws(EnrolFault) -> [SecretSlot: Secret] { try files.secrets() }

    func keepPending(_ secret: Secret) throws(EnrolFault) {
        try files.keepPending(secret)
        try dies(after: .pending)
    }

    func commit() throws(EnrolFault) {
        try files.keepBefore()
        try dies(after: .before)
        try files.promote()
        try dies(after: .promoted)
    }

    func retire() throws(EnrolFault) { try files.retire() }
    func list(_ isListed: Bool) {}
    func note(_ stage: EnrolmentRecord.Stage) {}
}
