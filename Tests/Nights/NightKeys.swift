import Base
import Commands
import Families
import Foundation
import Manifest
import Operations
import Radio
import Simulation
import Store
import Synchronization
import Workbench
import Yard

/// The key files of a life, in a folder of their own, and the acts of the people who change keys.
final class NightKeys: Sendable {
    private static let folder = "keys"

    private let scratch: Scratch

    /// Nil for a life without key files.
    init?(_ story: NightStory, _ key: String) throws {
        guard story.policy.keys != nil else { return nil }
        scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/" + Self.folder,
            withIntermediateDirectories: true
        )
        for text in Set(NightWish(story).secrets) {
            guard text.hasPrefix("file:") else { continue }
            let path = scratch.path + "/" + text.dropFirst(5)
            try Data((key + "\n").utf8).write(to: URL(filePath: path))
        }
    }

    /// The path at which the manifest counts as read.
    var manifest: String { scratch.path + "/manifest.yaml" }

    /// What a command for real vehicles may change.
    static func reach() throws -> Reach {
        guard case .run(let invocation) = try Parser.parse(["version"]) else { return .nothing }
        return try Context(console: Console(DirectOutlet())).reaching(invocation).reach
    }

    /// All keys that some file has.
    func kept() throws -> Set<[UInt8]> {
        let folder = scratch.path + "/" + Self.folder
        return Set(
            try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
                let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
                return Hex.bytes(text.trimmingCharacters(in: .newlines))
            }
        )
    }

    // MARK: People

    /// What `secrets rotate --split` does first: files and references of their own for all vehicles
    /// of the plan.
    func split(_ plan: FrozenPlan, _ fleet: String, _ wish: inout NightWish) throws {
        let list = scratch.path + "/fleet.csv"
        try Data(fleet.utf8).write(to: URL(filePath: list))
        let rotating = plan.rotating
        let split = try SecretSplit(
            rotating,
            for: rotating.vehicles,
            by: SharedSecrets(rotating.holders, credentials: nil),
            within: try Self.reach()
        )
        for copy in split.copies { try copy.write() }
        try split.rewriteList()
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: list)))
        for entry in FleetFile(bytes, file: list, Diagnostics())?.entries ?? [] {
            guard let number = Int(entry.id.dropFirst()), let secret = entry.secret else {
                continue
            }
            wish.secrets[number - 1] = secret
        }
    }

    /// What `enrol --rotate` does with one vehicle; it dies after this many writes of files.
    func enrol(
        _ vehicle: PlannedVehicle,
        of plan: FrozenPlan,
        dyingAfter writes: Int,
        over radio: any Central,
        _ time: any Timekeeper,
        seed: UInt64
    ) async {
        guard case .file(let file)? = vehicle.secret,
            let profile = ProfileLibrary.shipped.profile(vehicle.profile, of: vehicle.family)
        else { return }
        let shared = SharedSecrets(plan.holders, credentials: nil)
        guard shared.others(than: vehicle.id, at: file.path).isEmpty,
            let own = try? Self.reach().file(file.path)
        else { return }
        let chance = Mutex(SplitMix64(seed: seed))
        let enroller = Enroller(
            EnrolTarget(
                vehicle: vehicle.id,
                serial: vehicle.serial,
                profile: profile,
                bond: .unbonded
            ),
            keeper: MortalKeeper(SecretFiles(own, maker: nil), dyingAfter: writes),
            central: radio,
            time: time,
            searchingFor: .seconds(30),
            chance: { chance.withLock { $0.next() } },
            unless: { false }
        )
        // A failure leaves the next command or run to go on.
        _ = try? await enroller.enrol(rotating: true)
    }
}

/// The files of one vehicle in a process that dies after some writes.
private final class MortalKeeper: EnrolmentKeeper {
    private let files: SecretFiles
    private let left: Mutex<Int>

    init(_ files: SecretFiles, dyingAfter writes: Int) {
        self.files = files
        left = Mutex(writes)
    }

    private func act(_ write: () throws(EnrolFault) -> Void) throws(EnrolFault) {
        let isDead = left.withLock { left in
            left -= 1
            return left < 0
        }
        if isDead { throw EnrolFault(.refused, "killed", hint: "") }
        try write()
    }

    func secrets() throws(EnrolFault) -> [SecretSlot: Secret] { try files.secrets() }

    func keepPending(_ secret: Secret) throws(EnrolFault) {
        try act { () throws(EnrolFault) in try files.keepPending(secret) }
    }

    func commit() throws(EnrolFault) {
        try act { () throws(EnrolFault) in try files.keepBefore() }
        try act { () throws(EnrolFault) in try files.promote() }
    }

    func retire() {}
    func list(_ isListed: Bool) {}
    func note(_ stage: EnrolmentRecord.Stage) {}
}
