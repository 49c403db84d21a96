import Base
import Commands
import Foundation
import Manifest
import Operations
import Show
import Store
import Synchronization
import Workbench

/// What people do on the machine: verbs without a directory, rehearsals, commands that they paste.
///
/// The folders are real ones, with the program's own ways to them.
struct NightPeople: Sendable {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        for folder in [units, home] {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
        }
        // Where the runs of the machine keep their state.
        try Data().write(to: URL(filePath: units + "/" + Journal.fileName))
    }

    private var units: String { scratch.path + "/units" }
    private var home: String { scratch.path + "/home" }
    private var rehearsal: String { scratch.path + "/rehearsal" }

    /// Whether a verb that names no directory reaches the runs of the machine; nil when it is refused.
    func reachesRuns() -> Bool? {
        let home = home
        let found = try? GatewayState.find(
            flag: nil,
            environment: { $0 == "HOME" ? home : nil },
            units: units
        )
        return found.map { $0 == units }
    }

    private func reach(_ words: [String]) throws -> Reach {
        guard case .run(let invocation) = try Parser.parse(words) else { return .nothing }
        return try Context(console: Console(DirectOutlet())).reaching(invocation).reach
    }

    /// A person rehearses the change of a vehicle's key.
    func rehearseRotation(of file: String, seed: UInt64) throws {
        let reach = try reach([
            "secrets", "rotate", "m.yaml", "--simulate", "depot.yaml", "--state", rehearsal,
        ])
        guard let own = reach.file(file) else { return }
        let keeper = SecretFiles(own, maker: nil)
        var random = SplitMix64(seed: seed)
        let key = (0..<40).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" }
        try keeper.keepPending(Secret(Array(String(key).utf8)))
        try keeper.keepBefore()
        try keeper.promote()
    }

    /// Whether a rehearsal would send the notices of real runs.
    func wouldNotify() throws -> Bool {
        let words = ["run", "m.yaml", "--simulate", "depot.yaml", "--state", rehearsal]
        return try reach(words).postage != nil
    }

    /// Whether the command that is offered after a rehearsal would work on real vehicles.
    func isOfferReal() throws -> Bool {
        let words = [
            "run", "m.yaml", "--simulate", scratch.path + "/depot.yaml", "--state", rehearsal,
        ]
        _ = try reach(words).prepare(rehearsal)
        guard case .run(let invocation) = try Parser.parse(words) else { return true }
        let offer = PlaceFlags(invocation).of(rehearsal).line("run", "m.yaml")
        let pasted = offer.split(separator: " ").map(String.init)
        guard pasted.first == "yardmaster",
            case .run(let given) = try Parser.parse(Array(pasted.dropFirst()))
        else { return true }
        return try Context(console: Console(DirectOutlet())).reaching(given).reach.world != nil
    }
}
