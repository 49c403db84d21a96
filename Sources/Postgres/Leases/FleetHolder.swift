package import Domain

/// One start of the program on one gateway: what rights are granted to.
///
/// Not the gateway's name: a gateway that was started again must not be taken for the one before.
package struct FleetHolder: Sendable, Hashable {
    /// A random UUID as text.
    package let instance: String
    package let gateway: String

    /// One that was before, by what was written down of it.
    package init(instance: String, gateway: String) {
        (self.instance, self.gateway) = (instance, gateway)
    }

    /// 16 random bytes that nobody else draws.
    package init(gateway: String, random: [UInt8]) {
        precondition(random.count == 16)
        var bytes = random
        // Version 4 and the variant, as RFC 9562 has them.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = Array(Hex.text(bytes))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(text[$0]) }
        instance = parts.joined(separator: "-")
        self.gateway = gateway
    }
}

/// What a gateway says of its run with each sign of life.
package struct FleetFigures: Sendable, Equatable {
    package var adapters: [String] = []
    /// How many modules it may work with at once.
    package var links = 0
    /// Rights that ended before their work did.
    package var rightsLost = 0
    /// For how long it has waited for the database, or for the database to grant rights.
    package var waited = Duration.zero
    /// What is in its journal and not reported yet.
    package var untold = 0

    package init() {}
}

/// A gateway as the fleet knows it.
package struct FleetGateway: Sendable, Equatable {
    package let instance: String
    package let name: String
    /// The program and its version.
    package let program: String
    package let since: WallTime
    package let heard: WallTime
    /// How long it has not been heard, by the server's clock.
    package let silence: Duration
    /// How far its clock was ahead of the server's when it came.
    package let clockOffset: Duration?
    /// Whether it said good-bye.
    package let isGone: Bool
    /// Whether it takes nothing more: it was asked to, or its run is about to end.
    package let isDraining: Bool
    /// The modules that it has a right to.
    package let modules: Int
    /// Nil before its first sign of life.
    package let figures: FleetFigures?
    /// The rollout that it works on, and its beginning.
    package var rollout: String?
    package var beginning: Int?

    package init(
        instance: String,
        name: String,
        program: String,
        since: WallTime,
        heard: WallTime,
        silence: Duration,
        clockOffset: Duration?,
        isGone: Bool,
        isDraining: Bool,
        modules: Int,
        figures: FleetFigures? = nil
    ) {
        self.figures = figures
        self.instance = instance
        self.name = name
        self.program = program
        self.since = since
        self.heard = heard
        self.silence = silence
        self.clockOffset = clockOffset
        self.isGone = isGone
        self.isDraining = isDraining
        self.modules = modules
    }
}
