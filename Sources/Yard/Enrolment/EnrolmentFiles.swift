package import Base
import Manifest
package import Operations
package import Store

/// The files and the journal of one vehicle that is being enrolled.
package actor EnrolmentFiles: EnrolmentKeeper {
    private nonisolated let lane: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        lane.asUnownedSerialExecutor()
    }

    private let vehicle: VehicleID
    private let serial: Serial
    private let fleet: OutsideFile
    private let cells: [(column: String, text: String)]
    private let files: SecretFiles?
    private let family: Family
    private let journal: Journal
    private let time: any Timekeeper

    /// `lane` is the executor on which files are read and written.
    package init(
        _ vehicle: VehicleID,
        _ serial: Serial,
        fleet: OutsideFile,
        cells: [(column: String, text: String)],
        secrets: SecretFiles?,
        family: Family,
        journal: Journal,
        time: any Timekeeper,
        lane: any SerialExecutor
    ) {
        self.vehicle = vehicle
        self.serial = serial
        self.fleet = fleet
        self.cells = cells
        files = secrets
        self.family = family
        self.journal = journal
        self.time = time
        self.lane = lane
    }

    package func secrets() throws(EnrolFault) -> [SecretSlot: Secret] {
        try files?.secrets() ?? [:]
    }
    package func keepPending(_ secret: Secret) throws(EnrolFault) { try files?.keepPending(secret) }
    package func commit() throws(EnrolFault) { try files?.commit() }
    package func retire() throws(EnrolFault) { try files?.retire() }

    package func list(_ isListed: Bool) throws(EnrolFault) {
        if let code = fleet.prepare() { throw EnrolFault.file("cannot write", fleet.path, code) }
        let fleet = fleet.path
        var file = try FleetFile(listedIn: fleet)
        let hasChanged: Bool
        do throws(FleetFile.Mistake) {
            hasChanged = isListed ? try file.list(vehicle, cells) : try file.strike(vehicle)
        } catch { throw EnrolFault(.files, error.message, hint: error.hint) }
        if hasChanged { try file.replace(fleet) }
    }

    package func note(_ stage: EnrolmentRecord.Stage) async throws(EnrolFault) {
        try await journaled { (journal) async throws(JournalError) in
            try await journal.note(
                EnrolmentRecord(
                    serial: serial,
                    family: family,
                    vehicle: vehicle,
                    stage: stage,
                    time: time.wallTime
                )
            )
        }
    }

    func keep(_ record: InventoryRecord) async throws(EnrolFault) {
        try await journaled { (journal) async throws(JournalError) in
            try await journal.keep([record])
        }
    }

    /// Passes the vehicle's secret to the operator's program, as a line on its standard input.
    ///
    /// When the program refuses it, the secret stays in its file, and the same command passes it
    /// again.
    func hand(to program: String, in world: RealWorld) throws(EnrolFault) {
        guard let secret = try files?.secrets()[.current] else { return }
        let line = secret.withBytes { bytes in
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
                ?? ""
        }
        let receiver = world.program([program, vehicle.text, serial.text])
        let sentence: String
        switch receiver.run(line + "\n", within: Self.patience) {
        case .ended(0): return
        case .ended(let code):
            sentence = "\(program) did not take the secret: it ended with \(code)"
        case .cut(let cause): sentence = "\(program) did not take the secret: \(cause)"
        case .absent(let cause): sentence = "the program for secrets cannot be run: \(cause)"
        }
        throw EnrolFault(
            .files,
            sentence,
            hint: "the secret is in its file; run the command again to pass it to the program again"
        )
    }

    /// The time limit of a program.
    private static let patience = Duration.seconds(60)

    private func journaled(
        _ body: (Journal) async throws(JournalError) -> Void
    ) async throws(EnrolFault) {
        do throws(JournalError) { try await body(journal) } catch {
            throw EnrolFault(.files, error.description, hint: "run the command again")
        }
    }
}
