package import Base

/// One process of the program on one gateway, to which rights are granted.
///
/// Rights are not granted to the gateway's name: a gateway that was started again must not be taken
/// for the previous process.
package struct FleetHolder: Sendable, Hashable {
    /// A random UUID as text.
    package let instance: String
    package let gateway: String

    /// An earlier process, from what was recorded about it.
    package init(instance: String, gateway: String) {
        (self.instance, self.gateway) = (instance, gateway)
    }

    /// A new process; needs 16 random bytes that no other process uses.
    package init(gateway: String, random: [UInt8]) {
        precondition(random.count == 16)
        var bytes = random
        // Version 4 and the variant, according to RFC 9562.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = Array(Hex.text(bytes))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(text[$0]) }
        instance = parts.joined(separator: "-")
        self.gateway = gateway
    }
}

/// An earlier process of a state directory, which may still have rights.
package struct EarlierStart: Sendable, Equatable {
    package let instance: String
    /// Whether it has certainly ended.
    package let isOver: Bool

    package init(_ instance: String, isOver: Bool) {
        (self.instance, self.isOver) = (instance, isOver)
    }
}

/// Whether a process has signed in.
package enum FleetSignIn: Sendable, Equatable {
    case done
    /// Another process is at work under the name.
    case nameTaken
    /// The last process of the state directory was heard so long ago, and may still be at work
    /// elsewhere.
    case copied(silence: Duration)
}

/// The part of a process in a rollout, which it repeats with each sign of life.
package struct FleetWork: Sendable, Equatable {
    package let rollout: String
    package let beginning: Int
    /// Whether waves wait for it.
    package let takesPart: Bool

    package init(on rollout: String, beginning: Int, takesPart: Bool) {
        (self.rollout, self.beginning, self.takesPart) = (rollout, beginning, takesPart)
    }
}

/// Figures of a gateway's run, sent with each sign of life.
package struct FleetFigures: Sendable, Equatable {
    package var adapters: [String] = []
    /// How many modules it may work with at the same time.
    package var links = 0
    /// Rights that ended before their work did.
    package var rightsLost = 0
    /// How long it has waited for the database, or for the database to grant rights.
    package var waited = Duration.zero
    /// How many reports are in its journal and were not accepted yet.
    package var untold = 0

    package init() {}
}

/// A gateway in the fleet's database.
package struct FleetGateway: Sendable, Equatable {
    package let instance: String
    package let name: String
    /// The program and its version.
    package let program: String
    package let since: WallTime
    package let heard: WallTime
    /// The time since its last sign of life, by the server's clock.
    package let silence: Duration
    /// How far its clock was ahead of the server's when it signed in.
    package let clockOffset: Duration?
    /// Whether it has signed off.
    package let isGone: Bool
    /// Whether it takes no more vehicles: it was asked to drain, or its run is about to end.
    package let isDraining: Bool
    /// How many modules it has a right to.
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
