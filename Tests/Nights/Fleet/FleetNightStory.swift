import Base

/// Some nights of a depot with several gateways as a value.
///
/// What is there and wanted, and what goes wrong on one machine, is as in the nights of one gateway.
package struct FleetNightStory: Codable, Sendable, Equatable {
    /// Of all chance in the simulation.
    package var seed: UInt64
    package var vehicles: [NightStory.Vehicle]
    package var policy = NightStory.Policy()
    package var gateways: [Gateway]
    /// Vehicles that a second rollout wants, too.
    package var shared: [Int] = []
    package var nights: [Night]

    package init(
        seed: UInt64,
        vehicles: [NightStory.Vehicle],
        gateways: [Gateway],
        nights: [Night]
    ) {
        self.seed = seed
        self.vehicles = vehicles
        self.gateways = gateways
        self.nights = nights
    }

    package struct Gateway: Codable, Sendable, Equatable {
        /// Vehicles whose modules it does not hear, and those that it hears badly.
        package var deaf: [Int] = []
        package var far: [Int] = []
        /// Seconds that its clock on the wall is ahead.
        package var clock = 0

        package init() {}
    }

    package struct Night: Codable, Sendable, Equatable {
        /// Seconds that pass first.
        package var pause = 3_600
        package var edits: [NightStory.Edit] = []
        /// What is said before anything is started.
        package var words: [Said] = []
        package var starts: [Start]
        package var incidents: [Incident] = []

        package init(starts: [Start]) { self.starts = starts }
    }

    /// What a person says on one of the gateways.
    package struct Said: Codable, Sendable, Equatable {
        package var gateway: Int
        package var word: NightStory.Word

        package init(_ word: NightStory.Word, on gateway: Int) {
            (self.word, self.gateway) = (word, gateway)
        }
    }

    /// A run that is started on a gateway.
    package struct Start: Codable, Sendable, Equatable {
        package var gateway: Int
        /// After so many seconds of the night.
        package var second: Int
        package var rollout = Rollout.whole
        package var again = false

        package init(_ gateway: Int, second: Int) {
            (self.gateway, self.second) = (gateway, second)
        }
    }

    package enum Rollout: String, Codable, Sendable {
        /// Of all vehicles that are listed.
        case whole
        /// The other one, of those that are shared.
        case other
    }

    /// Something that happens to a gateway while it is at work.
    package struct Incident: Codable, Sendable, Equatable {
        package var gateway: Int
        package var at: NightStory.Place
        package var what: NightStory.Event
        /// Seconds until a gateway that was killed is started again.
        package var away = 60

        package init(_ what: NightStory.Event, at place: NightStory.Place, on gateway: Int) {
            (self.what, self.gateway) = (what, gateway)
            at = place
        }
    }

    /// The depot, as one machine would have it.
    var depot: NightStory {
        NightStory(seed: seed, vehicles: vehicles, policy: policy, nights: [])
    }

    static func name(_ gateway: Int) -> String { "g\(gateway + 1)" }
}
