import Base
import Families
import Foundation
import Operations
import Radio
import Simulation
import Store
import Testing
import Workbench

/// A peer without a key that claims a vehicle's serial.
@Suite(.timeLimit(.minutes(3))) struct ImpostorModuleTests {
    @Test func `an impostor gets no new secret`() throws {
        let yard = try ImpostorYard(isImpostor: true)
        try yard.run { yard in
            let fault = await #expect(throws: EnrolFault.self) {
                try await yard.enrol(rotating: true)
            }
            #expect(fault?.failure == .rejected)
            #expect(
                fault?.sentence.contains("is an impostor") == true,
                "\(String(describing: fault))"
            )
            let module = await yard.record()
            #expect(module.wrong >= 1 && module.keys == 0, "\(module)")
            let files = try yard.files()
            #expect(files == ["bike-1.key": ImpostorYard.old])
        }
    }

    @Test func `a module in service refuses each wrong answer, and then gets its new secret`()
        throws
    {
        let yard = try ImpostorYard(isImpostor: false)
        try yard.run { yard in
            try await yard.enrol(rotating: true)
            let module = await yard.record()
            // Four before the change, and the old secret after it.
            #expect(module.wrong == 5 && module.keys == 1, "\(module)")
            let files = try yard.files()
            #expect(files["bike-1.key.before"] == ImpostorYard.old)
        }
    }

    @Test func `a change that was begun is not completed on an impostor`() throws {
        let yard = try ImpostorYard(isImpostor: true)
        try yard.write("bike-1.key.new", ImpostorYard.new)
        try yard.run { yard in
            await #expect(throws: EnrolFault.self) { try await yard.enrol(rotating: false) }
            let files = try yard.files()
            let kept = ["bike-1.key": ImpostorYard.old, "bike-1.key.new": ImpostorYard.new]
            #expect(files == kept)
        }
    }

    @Test func `a new secret counts only when the old one is refused`() throws {
        let yard = try ImpostorYard(isImpostor: true)
        try yard.remove("bike-1.key")
        try yard.run { yard in
            // A new module: nothing but the maker's secret is known of it.
            let fault = await #expect(throws: EnrolFault.self) {
                try await yard.enrol(rotating: false, maker: ImpostorYard.old)
            }
            #expect(fault?.failure == .rejected)
            let module = await yard.record()
            #expect(module.keys == 1)
            let files = try yard.files()
            #expect(files.keys.sorted() == ["bike-1.key.new"])
        }
    }

    @Test func `a profile that allows no wrong answer gives none`() throws {
        let yard = try ImpostorYard(isImpostor: false, wrongAnswers: WrongAnswers.none)
        try yard.run { yard in
            try await yard.enrol(rotating: true)
            let module = await yard.record()
            #expect(module.wrong == 0 && module.keys == 1, "\(module)")
        }
    }

    @Test func `an impostor is not current where the profile allows wrong answers`() throws {
        let program = try Program()
        try program.copyDemo()
        let shown = try program.run(["profiles", "show", "comodule/generic"])
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/profiles",
            withIntermediateDirectories: true
        )
        try program.write(
            "profiles/watched.yaml",
            shown.output.replacing("profile: generic\n", with: "profile: watched\n")
                + "wrong-answers: {verdict: 1}\n"
        )
        let module = "key: \"\(ImpostorYard.old)\", type: 17, version: \"4.12.0\""
        try program.write(
            "depot.yaml",
            """
            name: impostors
            seed: 3
            modules:
              - {serial: "00a0000000000001", \(module)}
              - {serial: "00a0000000000002", \(module), faults: [{impostor: true}]}

            """
        )
        try program.write("one.key", ImpostorYard.old + "\n")
        try program.write("two.key", ImpostorYard.old + "\n")
        try program.write(
            "yard.yaml",
            """
            name: yard
            profiles: profiles
            vehicles:
              - {id: b1, serial: "00a0000000000001", family: comodule, profile: watched,
                 secret: "file:one.key"}
              - {id: b2, serial: "00a0000000000002", family: comodule, profile: watched,
                 secret: "file:two.key"}
            images:
              city:
                url: file:demo/city-4.12.0.zip
                sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
                version: "4.12.0"
                fits: {family: comodule, type: 17, variant: 0}
            steps: [{update: city}]
            settle: {quiet: 2s, confirm-gap: 200ms, deadline: 2m}

            """
        )
        let run = try program.run([
            "run", "yard.yaml", "--simulate", "depot.yaml", "--state", program.state,
        ])
        #expect(run.status == 10, "\(run.output)\(run.errors)")
        #expect(run.lastLine.contains(" current=1 "), "\(run.lastLine)")
        #expect(run.lastLine.contains(" failed=1 "), "\(run.lastLine)")
        #expect(run.output.contains("is an impostor"), "\(run.output)")
        let row = run.output.split(separator: "\n").last { $0.hasPrefix("b2 ") }
        let words = row?.split(separator: " ").prefix(3).map(String.init)
        #expect(words == ["b2", "rejected", "-"], "no version: \(run.output)")
    }
}

/// One module or impostor in simulated air, and the files of its vehicle.
private final class ImpostorYard: Sendable {
    static let old = "1111111111111111111111111111111111111111"
    static let new = "2222222222222222222222222222222222222222"

    private let simulation = Simulation(seed: 5)
    private let folder: Scratch
    private let serial: Serial
    private let vehicle: VehicleID
    private let profile: Profile
    private let isImpostor: Bool

    init(isImpostor: Bool, wrongAnswers: WrongAnswers? = nil) throws {
        self.isImpostor = isImpostor
        folder = try Scratch()
        serial = try #require(Serial("00a0000000000001"))
        vehicle = try #require(VehicleID("bike-1"))
        var profile = try #require(ProfileLibrary.shipped.profile(Profile.generic, of: .comodule))
        if let wrongAnswers { profile.wrongAnswers = wrongAnswers }
        self.profile = profile
        try write("bike-1.key", Self.old)
    }

    func write(_ name: String, _ key: String) throws {
        try Data((key + "\n").utf8).write(to: URL(filePath: folder.path + "/" + name))
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }

    func files() throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            files[name] = try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
                .trimmingCharacters(in: .newlines)
        }
        return files
    }

    func run(_ body: @escaping @Sendable (ImpostorYard) async throws -> Void) throws {
        try simulation.run { () async -> Result<Void, any Error> in
            await self.simulation.air.addAdapter("hci0")
            await self.simulation.air.arrange { world in
                var plan = ModulePlan(serial: self.serial)
                plan.key = Hex.bytes(Self.old) ?? []
                if self.isImpostor { plan.faults = [ModulePlan.Fault(.impostor)] }
                world.add(plan)
            }
            do { return .success(try await body(self)) } catch { return .failure(error) }
        }.get()
    }

    /// What the other side got.
    func record() async -> (wrong: Int, keys: Int) {
        await simulation.air.arrange { world in
            let module = world.modules(ComoduleModule.self).first
            return (module?.wrongAnswers ?? -1, module?.takenKeys ?? -1)
        }
    }

    func enrol(rotating: Bool, maker: String? = nil) async throws(EnrolFault) {
        let files = SecretFiles(
            Reach.real.own(folder.path + "/bike-1.key"),
            maker: maker.map { Secret(Array($0.utf8)) }
        )
        let enroller = Enroller(
            EnrolTarget(vehicle: vehicle, serial: serial, profile: profile, bond: .unbonded),
            keeper: PlainKeeper(files: files),
            central: SimulatedRadio(adapter: "hci0", air: simulation.air),
            time: simulation.time,
            searchingFor: .seconds(20),
            chance: {
                var source = SystemRandomNumberGenerator()
                return source.next()
            },
            unless: { false }
        )
        _ = try await enroller.enrol(rotating: rotating)
    }
}

/// The files of a secret, without a fleet list and a journal.
private struct PlainKeeper: EnrolmentKeeper {
    let files: SecretFiles

    func secrets() throws(EnrolFault) -> [SecretSlot: Secret] { try files.secrets() }
    func keepPending(_ secret: Secret) throws(EnrolFault) { try files.keepPending(secret) }
    func commit() throws(EnrolFault) { try files.commit() }
    func retire() throws(EnrolFault) { try files.retire() }
    func list(_ isListed: Bool) {}
    func note(_ stage: EnrolmentRecord.Stage) {}
}
