package import Base

/// An action of an update server that this machine has taken for one of its vehicles.
package struct ServerAction: Sendable, Equatable {
    package enum State: String, CaseIterable, Sendable {
        /// Its image may be sent. Next: `closing`, `cancelled`, `over`.
        case open
        /// Its verdict stands, and the server does not have it yet. Next: `over`.
        case closing
        /// Nothing of it was sent and nothing will be; the server does not know it yet. Next: `over`.
        case cancelled
        case over
    }

    /// How an action ended for good.
    package enum Verdict: String, CaseIterable, Sendable {
        case success, failure, downloaded
    }

    /// Its number in the journal; 0 before it was recorded.
    package let number: Int64
    /// The server's name in the file of servers.
    package let server: String
    package let controller: String
    /// Its id at the server.
    package let action: String
    package let vehicle: VehicleID
    package let serial: Serial
    /// The rollout that may carry it out.
    package let rollout: String
    /// The digest of what the server demands.
    package let demand: SHA256Digest
    /// Nil for a demand that is refused here.
    package let image: SHA256Digest?
    package let version: FirmwareVersion?
    /// The entry of the file of servers that the image was found by, and its parts of a manifest as JSON.
    package let terms: String
    /// The newest run when it was taken: only later runs can carry it out.
    package let after: Int
    package let taken: WallTime
    package var state: State
    /// Whether it is to be done now.
    package var isWanted: Bool
    package var verdict: Verdict?
    /// What the server has heard last, or is to hear with the verdict.
    package var details: String?
    /// Whether the verdict or the cancellation was sent, with or without an answer.
    package var wasSent = false

    package init(
        number: Int64 = 0,
        server: String,
        controller: String,
        action: String,
        vehicle: VehicleID,
        serial: Serial,
        rollout: String,
        demand: SHA256Digest,
        image: SHA256Digest?,
        version: FirmwareVersion?,
        terms: String,
        after: Int,
        taken: WallTime,
        isWanted: Bool
    ) {
        self.number = number
        self.server = server
        self.controller = controller
        self.action = action
        self.vehicle = vehicle
        self.serial = serial
        self.rollout = rollout
        self.demand = demand
        self.image = image
        self.version = version
        self.terms = terms
        self.after = after
        self.taken = taken
        self.isWanted = isWanted
        state = .open
    }

    static let columns = """
        number, server, controller, action, vehicle, serial, rollout, demand, image, version, terms, \
        after, taken, state, wanted, verdict, details, sent
        """

    init(row: borrowing SQLStatement) throws(JournalError) {
        number = row.integer(0)
        server = row.text(1) ?? ""
        controller = row.text(2) ?? ""
        action = row.text(3) ?? ""
        vehicle = try row.value(4) { VehicleID($0) }
        serial = try row.value(5) { Serial($0) }
        rollout = row.text(6) ?? ""
        demand = try row.value(7) { SHA256Digest($0) }
        image = try row.optional(8) { SHA256Digest($0) }
        version = try row.optional(9) { FirmwareVersion($0) }
        terms = row.text(10) ?? ""
        after = Int(row.integer(11))
        taken = WallTime(milliseconds: row.integer(12))
        state = try row.value(13) { State(rawValue: $0) }
        isWanted = row.integer(14) != 0
        verdict = try row.optional(15) { Verdict(rawValue: $0) }
        details = row.text(16)
        wasSent = row.integer(17) != 0
    }

    /// In the order of `columns`, without the number.
    var values: [Value] {
        [
            .text(server), .text(controller), .text(action), .text(vehicle.text),
            .text(serial.text), .text(rollout), .text(demand.description),
            Value(image?.description), Value(version?.description), .text(terms), Value(after),
            Value(taken), .text(state.rawValue), Value(isWanted ? 1 : 0),
            Value(verdict?.rawValue), Value(details), Value(wasSent ? 1 : 0),
        ]
    }
}
