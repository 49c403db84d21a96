package import Base

/// Everything that decides the work of a run, fixed before it starts: vehicles, steps, images,
/// rules.
package struct FrozenPlan: Sendable, Equatable {
    package private(set) var name: String
    /// In the order of the fleet list, which the waves divide.
    package internal(set) var vehicles: [PlannedVehicle]
    /// All vehicles of the list: of an order, more than those that it is for.
    package private(set) var list: [PlannedVehicle]
    /// The images that steps need, sorted by name.
    package internal(set) var images: [PlannedImage]
    /// The steps at the end on each vehicle, whatever happened.
    package internal(set) var always: [Step]
    package internal(set) var rollout: RolloutPolicy
    package let radio: RadioSettings
    package let settle: SettleSettings
    package let connect: ConnectSettings
    package let fetch: FetchPolicy
    package internal(set) var trust: TrustPolicy
    /// The folder of profiles that the manifest names; nil when it names none.
    package let profiles: String?
    /// The number of vehicles in each wave; no wave is empty, and together they contain all
    /// vehicles.
    package private(set) var waveSizes: [Int] = []
    /// Identifies everything that decides the work.
    package private(set) var digest = SHA256.digest(of: [])
    /// The place of the manifest.
    package let place: Place
    /// Warnings about rules of the rollout that can never apply to these vehicles.
    package internal(set) var remarks: [Diagnostic] = []
    /// The place of the window's time zone; nil when there is none.
    package internal(set) var zonePlace: Place?
    /// Who is notified of the end of its runs; this does not affect the work.
    package internal(set) var notify: NotifyPolicy?
    /// The place of the program that runs between two waves; nil when there is none.
    package internal(set) var checkPlace: Place?
    /// All rows of the fleet list whose modules have a secret, selected or not.
    package internal(set) var holders: [SecretHolder] = []

    init(
        name: String,
        vehicles: [PlannedVehicle],
        list: [PlannedVehicle]? = nil,
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
        self.list = list ?? vehicles
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
        freeze()
    }

    private mutating func freeze() {
        waveSizes = Self.sizes(of: rollout.waves, total: vehicles.count)
        digest = SHA256.digest(of: canonical.bytes)
    }

    /// The same fleet with other work, under another name.
    ///
    /// It begins without images, steps at the end, and people who are notified.
    func with(name: String, _ change: (inout FrozenPlan) -> Void) -> FrozenPlan {
        var plan = self
        plan.name = name
        (plan.images, plan.always, plan.remarks) = ([], [], [])
        (plan.zonePlace, plan.notify, plan.checkPlace) = (nil, nil, nil)
        change(&plan)
        plan.freeze()
        return plan
    }

    /// The same plan beside the files as they are now.
    ///
    /// It has the secrets where `other` has them, and says which vehicles have got other devices.
    /// Its digest leaves both out.
    package func beside(_ other: FrozenPlan) -> FrozenPlan {
        let rows = Dictionary(other.list.map { ($0.id, $0) }) { first, _ in first }
        var plan = self
        plan.holders = other.holders
        // A module is where the later list has it; a vehicle that has left the list may be without one.
        let present = list.compactMap { rows[$0.id] }
        let owners = Dictionary(present.map { ($0.serial, $0.id) }) { first, _ in first }
        plan.list = list.compactMap { row in
            rows[row.id] ?? (owners[row.serial] == nil ? row : nil)
        }
        plan.vehicles = vehicles.map { vehicle in
            var vehicle = vehicle
            guard let row = rows[vehicle.id] else {
                vehicle.exchanged = owners[vehicle.serial].map(vehicle.exchanged(into:))
                return vehicle
            }
            vehicle.exchanged = vehicle.exchanged(by: row)
            guard row.serial == vehicle.serial else { return vehicle }
            vehicle.secret = row.secret
            vehicle.secretPlace = row.secretPlace
            return vehicle
        }
        return plan
    }

    /// The value from whose text the digest is calculated: one spelling for each plan.
    var canonical: JSONValue { CanonicalForm(plan: self).value }

    /// The text from which the digest is calculated: compact JSON.
    package var canonicalText: String { canonical.text }

    /// The same plan with the requirements of the images' signers; it keeps its digest.
    package func demanding(predecessors: [String: FirmwareVersion]) -> FrozenPlan {
        var plan = self
        for index in images.indices {
            plan.images[index].predecessor = predecessors[images[index].name]
        }
        return plan
    }

    /// The same plan with other ids of some vehicles, by their serials; it keeps its digest.
    package func calling(_ names: [Serial: VehicleID]) -> FrozenPlan {
        var plan = self
        for (index, vehicle) in vehicles.enumerated() {
            if let name = names[vehicle.serial] { plan.vehicles[index].id = name }
        }
        for (index, vehicle) in list.enumerated() {
            if let name = names[vehicle.serial] { plan.list[index].id = name }
        }
        return plan
    }

    package func image(named name: String) -> PlannedImage? {
        images.first { $0.name == name }
    }

    /// Divides the vehicles into waves.
    ///
    /// A share is of all vehicles, rounded down, and at least one.
    ///
    /// Vehicles that remain form a last wave, as if the list ended with `rest`.
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
