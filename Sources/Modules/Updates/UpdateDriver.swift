package import Domain
package import Radio
package import Sessions

/// One way of updating modules: how they are heard, and who answers on a link to them.
///
/// The order of an update is `UpdateSession`'s; a driver does what it says, one thing at a time,
/// and holds no facts that outlive its link.
package protocol UpdateDriver: Sendable {
    var family: Family { get }

    /// Images go to a bootloader, which the application is sent into, and not to the application.
    var usesBootloader: Bool { get }

    /// Its modules say what they run, whether they are updated or not.
    var tellsVersions: Bool { get }

    /// How its modules are known among all that advertise, in whichever role they are.
    var recogniser: ModuleRecogniser { get }

    /// Opens a link to the module's application: authenticates where the family asks for it.
    func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication

    /// Opens a link to its bootloader.
    func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver
}

/// What is to be installed, and in what of the module.
package struct UpdateOrder: Sendable, Equatable {
    package let serial: Serial
    package let target: ModulePart
    package let parts: [FirmwarePart]

    package init(serial: Serial, target: ModulePart = .secondary, parts: [FirmwarePart]) {
        self.serial = serial
        self.target = target
        self.parts = parts
    }
}

/// A link to the program that a module runs, as far as steps need it.
package protocol ModuleApplication: AnyObject {
    /// Where its bootloader will be heard, should that bear no name; nil where it has none.
    var bootloaderPlace: Peer? { get }

    /// The same link as the receiving end; nil where a bootloader receives.
    var receiver: (any ImageReceiver)? { get }

    /// The module's properties; nil in a family that has none.
    func properties() async throws(ModuleError) -> (any PropertyHolder)?

    /// The module's features; nil in a family that has none.
    var features: (any FeatureHolder)? { get }

    /// What the module is and runs, as far as it decides about the order.
    func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection

    /// Looks at this moment, or earlier when the module tells something by itself.
    func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation

    /// Makes it ready for the image, or leads it into its bootloader: the link may end with that.
    func prepare(_ order: UpdateOrder) async throws(ModuleError)

    /// Makes it keep what runs on trial; returns when it says that it does.
    func confirm(_ order: UpdateOrder) async throws(ModuleError)

    /// Makes it go back to what ran before: it restarts.
    func rollBack(_ order: UpdateOrder) async throws(ModuleError)

    func disconnect() async
}

/// The receiving end of an image, over one link.
package protocol ImageReceiver: AnyObject {
    /// What is there of the parts; changes nothing.
    func probe(_ order: UpdateOrder) async throws(ModuleError) -> UpdateProbe

    /// Sends what is missing of one part, more cautiously at a higher pace; `progress` hears of
    /// every byte more that the module acknowledges. `start` says
    /// what is known of the beginning.
    func transfer(
        _ part: Int,
        of order: UpdateOrder,
        pace: Int,
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd

    /// Makes the module run what it has: it restarts.
    func activate(_ order: UpdateOrder) async throws(ModuleError)

    /// Image bytes given to the radio on this link, repeats included.
    var bytesSent: Int { get }

    func disconnect() async
}

/// How far one part is on one link, by the module's own words.
package struct UploadProgress: Sendable, Equatable {
    package let acknowledged: Int
    /// Where this link took the part up.
    package let resumedFrom: Int

    package init(acknowledged: Int, resumedFrom: Int) {
        self.acknowledged = acknowledged
        self.resumedFrom = resumedFrom
    }

    /// No further than a size: of a part's variants the largest stands for all.
    package func clamped(to size: Int) -> UploadProgress {
        UploadProgress(
            acknowledged: min(acknowledged, size),
            resumedFrom: min(resumedFrom, size)
        )
    }
}

/// How sending a part ended when nothing failed.
package enum TransferEnd: Sendable, Equatable {
    /// The module has all of it; on a link that holds more can be sent at once.
    case finished(linkHolds: Bool)
    /// At a safe point, because it was asked for.
    case stopped
}

extension UpdateDriver {
    package var tellsVersions: Bool { true }
}

extension ModuleApplication {
    package var bootloaderPlace: Peer? { nil }

    package func properties() async throws(ModuleError) -> (any PropertyHolder)? { nil }

    package var features: (any FeatureHolder)? { nil }
}
