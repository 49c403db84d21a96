import Base
import Families
import Radio

/// An update with everything that it needs, after all checks that are possible without a module.
struct UpdatePlan: Sendable {
    let serial: Serial
    let profile: Profile
    let driver: any UpdateDriver
    let image: FirmwareImage
    /// The bond to make with the module's application.
    let bond: BondPolicy
    let options: FirmwareUpdateOptions
    let limits: UpdateLimits
    let record: FirmwareUpdateRecord?
    let keep: @Sendable (FirmwareUpdateRecord?) throws -> Void
    /// Called with the steps of the module's own update status, and their percentage.
    let stage: @Sendable (ModuleUpdateStatus.Step, Double) async -> Void

    init(
        _ serial: Serial,
        _ profile: Profile,
        _ image: FirmwareImage,
        _ secret: Secret?,
        _ bond: BondPolicy?,
        _ options: FirmwareUpdateOptions,
        in library: ProfileLibrary,
        resuming record: FirmwareUpdateRecord?,
        keep: @escaping @Sendable (FirmwareUpdateRecord?) throws -> Void,
        stage: @escaping @Sendable (ModuleUpdateStatus.Step, Double) async -> Void = { _, _ in }
    ) throws(ModuleFailure) {
        if let record, record.digest != image.digest {
            throw ModuleFailure(
                .updateRejected,
                "the record is of another image, \(record.image)",
                "finish that update first"
            )
        }
        if let cause = image.content.mismatch(with: image.place, of: profile) {
            throw ModuleFailure(.updateRejected, cause, "name another image or another part")
        }
        if image.content.isConfirmed, !options.allowsConfirmed {
            throw ModuleFailure(
                .updateRejected,
                "the image is confirmed already, so it would run for good without a trial",
                "sign it unconfirmed, or set `allowsConfirmed`"
            )
        }
        self.serial = serial
        self.profile = profile
        self.bond = bond ?? profile.unattendedBond
        self.image = image
        self.options = options
        self.record = record
        self.keep = keep
        self.stage = stage
        driver = try Self.driver(profile, secret, in: library)
        limits = try Self.limits(profile, options)
    }

    static func driver(
        _ profile: Profile,
        _ secret: Secret?,
        in library: ProfileLibrary
    ) throws(ModuleFailure) -> any UpdateDriver {
        let key = if let secret { secret as Secret? } else { try profile.readDefaultKey() }
        do throws(ModuleSecretError) {
            if let driver = library.driver(of: profile, key) {
                if key == nil, library.needsKey(profile) { throw .missing }
                return driver
            }
            return try FamilyRegistry.opener(of: profile.family, key, by: profile).driver(profile)
        } catch {
            switch error {
            case .missing:
                throw ModuleFailure(
                    .invalidPrivateKey,
                    "modules of family \(profile.family.rawValue) are opened with a secret, and "
                        + "profile \(profile.name) has no default key",
                    "give the module's secret, or write `default-key: REFERENCE` or "
                        + "`authentication: none` in a profile of your own"
                )
            case .unfit(let sentence, let cause, let form):
                throw ModuleFailure(
                    .invalidPrivateKey,
                    "the secret \(sentence): \(cause)",
                    "give \(form)"
                )
            }
        }
    }

    private static func limits(
        _ profile: Profile,
        _ options: FirmwareUpdateOptions
    ) throws(ModuleFailure) -> UpdateLimits {
        var times = profile.times
        times.quiet = options.quiet ?? times.quiet
        times.deadline = options.deadline ?? times.deadline
        if let settle = SettleRules(), let limits = times.applied(to: UpdateLimits(settle: settle))
        {
            return limits
        }
        throw ModuleFailure(
            .invalidValue,
            "an update can never settle by these times",
            "make `deadline` longer than `quiet`"
        )
    }

    var order: UpdateOrder {
        UpdateOrder(serial: serial, target: image.place, parts: image.content.parts)
    }

    var goal: UpdateGoal {
        UpdateGoal(
            image: ImageFirmware(
                name: image.name,
                version: image.target,
                family: profile.family,
                type: options.type,
                variant: options.variant
            ),
            policy: UpdatePolicy(allowsDowngrade: options.allowsDowngrade),
            sizes: image.content.parts.map(\.size),
            usesBootloader: driver.usesBootloader
        )
    }
}
