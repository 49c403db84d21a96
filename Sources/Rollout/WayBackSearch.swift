package import Base
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

        package var image: PlannedImage? { if case .back(let image) = self { image } else { nil } }

        package var refusal: String? { if case .refused(let why) = self { why } else { nil } }
    }

    /// A vehicle, what was sent to its module last, and what becomes of it.
    package struct Row: Sendable {
        package let vehicle: PlannedVehicle
        package let sent: Transfer?
        package let fate: Fate
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
        package var fates: [Row] = []
    }

    /// Why an image must not go to a vehicle, from what was sent to its module; nil when it may.
    package typealias Objection = @Sendable (PlannedVehicle, Transfer, PlannedImage) -> String?

    private let plan: FrozenPlan
    /// The images of the plan.
    private let images: Set<SHA256Digest>
    /// By version, those that a person has named first.
    private let candidates: [FirmwareVersion: [Candidate]]
    private let recalls: [Recall]
    private let objection: Objection
    /// The transfers to each module, in their order.
    private let transfers: [Serial: [Transfer]]

    package init(
        from plan: FrozenPlan,
        _ transfers: [Transfer],
        among candidates: [Candidate],
        recalls: [Recall],
        objection: @escaping Objection = { _, _, _ in nil }
    ) {
        (self.plan, self.recalls, self.objection) = (plan, recalls, objection)
        images = Set(plan.images.map(\.digest))
        let ordered = candidates.filter(\.isGiven) + candidates.filter { !$0.isGiven }
        self.candidates = Dictionary(grouping: ordered) { $0.image.version }
        self.transfers = Dictionary(grouping: transfers, by: \.serial)
    }

    package func answer() -> Answer {
        var answer = Answer()
        for vehicle in plan.vehicles {
            let row = row(of: vehicle)
            if let image = row.fate.image, let sent = row.sent {
                answer.way.bring(vehicle.serial, to: image, part: sent.part)
            }
            answer.fates.append(row)
        }
        return answer
    }

    private func row(of vehicle: PlannedVehicle) -> Row {
        let known = transfers[vehicle.serial] ?? []
        let own = known.indices.filter {
            known[$0].rollout == plan.name && images.contains(known[$0].image)
        }
        guard let first = own.first, let last = own.last else {
            return Row(vehicle: vehicle, sent: nil, fate: .untouched)
        }
        let sent = known[first]
        let fate: Fate
        if own.contains(where: { known[$0].target != sent.target }) {
            fate = .refused(
                "the rollout has updated several of its parts: a manifest can bring them back"
            )
        } else if let before = sent.before {
            // What an earlier rollout has installed is known to the bit.
            let earlier = known[..<first].last { $0.target == sent.target && $0.isProven }
            let build = earlier?.version == before ? earlier?.image : nil
            fate = self.fate(of: vehicle, known[last], to: before, build: build)
        } else {
            fate = .refused(
                "nobody knows what it ran before: its module was in its bootloader when the update "
                    + "began"
            )
        }
        return Row(vehicle: vehicle, sent: known[last], fate: fate)
    }

    private func fate(
        of vehicle: PlannedVehicle,
        _ sent: Transfer,
        to version: FirmwareVersion,
        build: SHA256Digest?
    ) -> Fate {
        var why: String?
        for candidate in candidates[version] ?? [] {
            let image = candidate.image
            guard image.fits.family == vehicle.family,
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

extension Transfer {
    /// The part of the module that it replaces.
    package var part: ModulePart { ModulePart(rawValue: target) ?? .secondary }
}
