import Base
package import Manifest
package import Store

/// Decides what each vehicle of a rollout goes back to, before any radio work.
package struct WayBackSearch: Sendable {
    /// What becomes of a vehicle.
    package enum Fate: Sendable, Equatable {
        case back(to: PlannedImage)
        /// The rollout has sent it nothing.
        case untouched
        case refused(String)
    }

    /// An image that modules may have run before.
    package struct Candidate: Sendable {
        package let image: PlannedImage
        /// Whether a person has named it for this.
        package let isGiven: Bool
        /// Whether it is only for modules that have run it before: nothing else says what it fits.
        package let isOwn: Bool

        package init(_ image: PlannedImage, isGiven: Bool = false, isOwn: Bool = false) {
            (self.image, self.isGiven, self.isOwn) = (image, isGiven, isOwn)
        }
    }

    package struct Answer: Sendable {
        package var way = WayBack()
        package var fates: [(vehicle: PlannedVehicle, sent: Transfer?, fate: Fate)] = []
    }

    /// Why an image must not go to a vehicle, from what was sent to its module; nil when it may.
    package typealias Objection = @Sendable (PlannedVehicle, Transfer, PlannedImage) -> String?

    private let plan: FrozenPlan
    private let candidates: [Candidate]
    private let recalls: [Recall]
    private let objection: Objection
    /// The transfers to each module, in their order.
    private var transfers: [Serial: [Transfer]] = [:]

    package init(
        from plan: FrozenPlan,
        _ transfers: [Transfer],
        among candidates: [Candidate],
        recalls: [Recall],
        objection: @escaping Objection = { _, _, _ in nil }
    ) {
        (self.plan, self.recalls, self.objection) = (plan, recalls, objection)
        self.candidates = candidates.filter(\.isGiven) + candidates.filter { !$0.isGiven }
        self.transfers = Dictionary(grouping: transfers, by: \.serial)
    }

    package func answer() -> Answer {
        var answer = Answer()
        for vehicle in plan.vehicles {
            let (sent, fate, part) = fate(of: vehicle)
            if case .back(let image) = fate, let part {
                answer.way.bring(vehicle.serial, to: image, part: part)
            }
            answer.fates.append((vehicle, sent, fate))
        }
        return answer
    }

    private func fate(of vehicle: PlannedVehicle) -> (Transfer?, Fate, ModulePart?) {
        let known = transfers[vehicle.serial] ?? []
        let images = Set(plan.images.map(\.digest))
        let own = known.indices.filter {
            known[$0].rollout == plan.name && images.contains(known[$0].image)
        }
        guard let first = own.first, let last = own.last else { return (nil, .untouched, nil) }
        let (sent, now) = (known[first], known[last])
        guard own.allSatisfy({ known[$0].target == sent.target }) else {
            let why = "the rollout has updated several of its parts: a manifest can bring them back"
            return (now, .refused(why), nil)
        }
        guard let before = sent.before else {
            let why =
                "nobody knows what it ran before: its module was in its bootloader when the update "
                + "began"
            return (now, .refused(why), nil)
        }
        // What an earlier rollout has installed is known to the bit.
        let earlier = known[..<first].last { $0.target == sent.target && $0.isProven }
        let build = earlier?.version == before ? earlier?.image : nil
        let fate = fate(of: vehicle, now, to: before, build: build)
        return (now, fate, ModulePart(rawValue: sent.target) ?? .secondary)
    }

    private func fate(
        of vehicle: PlannedVehicle,
        _ sent: Transfer,
        to version: FirmwareVersion,
        build: SHA256Digest?
    ) -> Fate {
        var why: String?
        for candidate in candidates {
            let image = candidate.image
            guard image.version == version, image.fits.family == vehicle.family,
                candidate.isGiven || build == image.digest || build == nil && !candidate.isOwn
            else { continue }
            guard let refusal = refusal(vehicle, sent, image) else { return .back(to: image) }
            why = why ?? refusal
        }
        return .refused(
            why
                ?? "it ran \(version) before, and no image of that is here: give it with --image FILE"
        )
    }

    private func refusal(
        _ vehicle: PlannedVehicle,
        _ sent: Transfer,
        _ image: PlannedImage
    ) -> String? {
        if let recall = recalls.first(where: { $0.image == image.digest }) {
            return recall.sentence
        }
        let (allowed, denied) = (plan.trust.allowed, plan.trust.denied)
        if denied.contains(image.digest) || !allowed.isEmpty && !allowed.contains(image.digest) {
            return "the manifest denies its image \(image.name)"
        }
        return objection(vehicle, sent, image)
    }
}
