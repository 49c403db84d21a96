import Digests
package import Domain
package import SourceTree
import Wire

/// What a run does, settled before it starts: vehicles, steps, images, rules.
package struct FrozenPlan: Sendable, Equatable {
    package let name: String
    /// In the order of the fleet list, from which the waves are cut.
    package let vehicles: [PlannedVehicle]
    /// Those that some step needs, by name.
    package private(set) var images: [PlannedImage]
    /// Done at the end on each vehicle, whatever happened.
    package let always: [Step]
    package let rollout: RolloutPolicy
    package let radio: RadioSettings
    package let settle: SettleSettings
    package let connect: ConnectSettings
    package let fetch: FetchPolicy
    package let trust: TrustPolicy
    /// The folder of profiles that the manifest names.
    package let profiles: String?
    /// How many vehicles each wave has; none is empty, and together they are all.
    package let waveSizes: [Int]
    /// Stands for everything that decides what is done.
    package let digest: SHA256Digest
    /// The manifest.
    package let place: Place
    /// Rules of the rollout that never apply to these vehicles, as warnings.
    package internal(set) var remarks: [Diagnostic] = []
    /// Where the window's time zone stands, when it does.
    package internal(set) var zonePlace: Place?
    /// Who is notified how its runs end; says nothing about what is done.
    package internal(set) var notify: NotifyPolicy?
    /// Where the program between two waves stands, when there is one.
    package internal(set) var checkPlace: Place?

    init(
        name: String,
        vehicles: [PlannedVehicle],
        images: [PlannedImage],
        always: [Step],
        rollout: RolloutPolicy,
        radio: RadioSettings,
        settle: SettleSettings,
        connect: ConnectSettings,
        fetch: FetchPolicy,
        trust: TrustPolicy,
        profiles: String? = nil,
        place: Place
    ) {
        self.name = name
        self.vehicles = vehicles
        self.images = images
        self.always = always
        self.rollout = rollout
        self.radio = radio
        self.settle = settle
        self.connect = connect
        self.fetch = fetch
        self.trust = trust
        self.profiles = profiles
        self.place = place
        waveSizes = Self.sizes(of: rollout.waves, total: vehicles.count)
        let form = CanonicalForm(
            name: name,
            vehicles: vehicles,
            images: images,
            always: always,
            rollout: rollout,
            settle: settle,
            connect: connect
        )
        digest = SHA256.digest(of: form.value.bytes)
    }

    /// The text whose SHA-256 the digest is: compact JSON, one spelling for one plan.
    package var canonicalText: String {
        CanonicalForm(
            name: name,
            vehicles: vehicles,
            images: images,
            always: always,
            rollout: rollout,
            settle: settle,
            connect: connect
        ).value.text
    }

    /// The same plan with what the signers of images demand; it keeps its digest.
    package func demanding(predecessors: [String: FirmwareVersion]) -> FrozenPlan {
        var plan = self
        for index in images.indices {
            plan.images[index].predecessor = predecessors[images[index].name]
        }
        return plan
    }

    package func image(named name: String) -> PlannedImage? {
        images.first { $0.name == name }
    }

    /// Cuts the vehicles into waves: shares are of all vehicles, rounded down, at least one.
    ///
    /// What the waves leave over makes a last one, as if `rest` stood there.
    static func sizes(of waves: [Wave], total: Int) -> [Int] {
        var sizes: [Int] = []
        var left = total
        for wave in waves + [.rest] {
            let wanted =
                switch wave {
                case .count(let count): count
                case .percent(let percent): max(1, percent.share(of: total))
                case .rest: left
                }
            let size = min(wanted, left)
            if size > 0 { sizes.append(size) }
            left -= size
        }
        return sizes
    }
}
