import Domain
import Manifest
import Modules
import Sessions

extension UpdateJob {
    /// A step of the plan with its images in place of their names; nil when one is missing.
    init?(
        _ step: Manifest.UpdateStep,
        of plan: FrozenPlan,
        _ images: [String: [FirmwarePart]],
        healthy: [PropertyTest]
    ) {
        var waypoints: [UpdateJob] = []
        for name in step.via {
            guard let image = plan.image(named: name), let parts = images[name] else { return nil }
            waypoints.append(UpdateJob(image, parts, part: step.part))
        }
        guard let image = plan.image(named: step.image), let parts = images[step.image] else {
            return nil
        }
        self.init(
            image,
            parts,
            part: step.part,
            allowsDowngrade: step.allowsDowngrade,
            healthy: healthy,
            within: step.within,
            waypoints: waypoints
        )
    }

    private init(
        _ image: PlannedImage,
        _ parts: [FirmwarePart],
        part: ModulePart,
        allowsDowngrade: Bool = false,
        healthy: [PropertyTest] = [],
        within: Duration = .seconds(120),
        waypoints: [UpdateJob] = []
    ) {
        self.init(
            name: image.name,
            digest: image.digest,
            version: image.version,
            family: image.fits.family,
            target: part,
            type: image.fits.type.map(Int.init),
            variant: image.fits.variant.map(Int.init),
            allowsDowngrade: allowsDowngrade,
            parts: parts,
            healthy: healthy,
            healthyWithin: within,
            waypoints: waypoints
        )
    }
}
