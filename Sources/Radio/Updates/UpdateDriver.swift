package import Base

/// One way of updating modules: how to recognise them, and how to open a link to them.
///
/// `UpdateSession` decides the order of an update. A driver performs its actions, one at a time,
/// and keeps no facts that outlive its link.
package protocol UpdateDriver: Sendable {
    var family: Family { get }

    /// Whether images are sent to a bootloader, which the application must start first, and not to
    /// the application.
    var usesBootloader: Bool { get }

    /// Whether its modules report the versions that they run, even without an update.
    var tellsVersions: Bool { get }

    /// How to recognise its modules, in either role, among all that advertise.
    var recogniser: ModuleRecogniser { get }

    /// The driver for a program that keeps the link and follows the module, and knows facts about
    /// it from earlier links.
    func following(_ known: CachedModule) -> any UpdateDriver

    /// Opens a link to the module's application: authenticates where the family requires it.
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

/// What is to be installed, and in which part of the module.
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

/// A link to the program that a module runs, with the operations that steps need.
package protocol ModuleApplication: AnyObject {
    /// Where its bootloader will be heard, if that has no name; nil where it has none.
    var bootloaderPlace: Peer? { get }

    /// The same link as a receiver of images; nil where a bootloader receives them.
    var receiver: (any ImageReceiver)? { get }

    /// The module's properties; nil in a family that has none.
    func properties() async throws(ModuleError) -> (any PropertyHolder)?

    /// The module's features; nil in a family that has none.
    var features: (any FeatureHolder)? { get }

    /// What the module sends unasked until `moment`, maybe earlier and empty; nil in a family whose
    /// modules must be asked. Other requests may be made at the same time.
    ///
    /// With `asking`, the module is asked whether it hands an image on.
    func news(before moment: Moment, asking: Bool) async throws(ModuleError) -> ModuleNews?

    /// The identity and versions of the module, as far as they matter for the order.
    func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection

    /// Reads the module's state at `moment`, or earlier when the module reports something unasked.
    func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation

    /// Makes the module ready for the image, or starts its bootloader, which may end the link.
    func prepare(_ order: UpdateOrder) async throws(ModuleError)

    /// Makes the module keep the image that runs on trial; returns when the module confirms this.
    func confirm(_ order: UpdateOrder) async throws(ModuleError)

    /// Makes the module return to the image that ran before: it restarts.
    func rollBack(_ order: UpdateOrder) async throws(ModuleError)

    func disconnect() async
}

/// Values that a module sends unasked.
package struct ModuleNews: Sendable {
    package var changes: [PropertyReading] = []
    /// Nil when it reports nothing about that.
    package var isHandingOn: Bool?

    package init() {}
}

/// The receiver of an image, over one link.
package protocol ImageReceiver: AnyObject {
    /// Which of the parts the module already has; changes nothing.
    func probe(_ order: UpdateOrder) async throws(ModuleError) -> UpdateProbe

    /// Whether a later transfer goes on where one has stopped; where it begins again, with the old program gone, a
    /// request to stop waits for the end of the transfer.
    var keepsReceived: Bool { get }

    /// Sends the missing bytes of one part, more cautiously at a higher pace. `progress` is called
    /// whenever the module acknowledges more bytes. `start` contains what is known of the
    /// beginning.
    func transfer(
        _ part: Int,
        of order: UpdateOrder,
        pace: Int,
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd

    /// Makes the module run the image that it received: it restarts.
    func activate(_ order: UpdateOrder) async throws(ModuleError)

    /// Image bytes given to the radio on this link, including repeated ones.
    var bytesSent: Int { get }

    func disconnect() async
}

extension ImageReceiver {
    package var keepsReceived: Bool { true }
}

/// The progress of one part on one link, as the module reports it.
package struct UploadProgress: Sendable, Equatable {
    package let acknowledged: Int
    /// The offset at which this link continued the part.
    package let resumedFrom: Int

    package init(acknowledged: Int, resumedFrom: Int) {
        self.acknowledged = acknowledged
        self.resumedFrom = resumedFrom
    }

    /// The progress limited to a size: the largest of a part's variants stands for all.
    package func clamped(to size: Int) -> UploadProgress {
        UploadProgress(
            acknowledged: min(acknowledged, size),
            resumedFrom: min(resumedFrom, size)
        )
    }
}

/// How the transfer of a part ended when nothing failed.
package enum TransferEnd: Sendable, Equatable {
    /// The module has the whole part. If the link holds, more can be sent immediately.
    case finished(linkHolds: Bool)
    /// Stopped at a safe point, as requested.
    case stopped
}

extension UpdateDriver {
    package var tellsVersions: Bool { true }

    package func following(_ known: CachedModule) -> any UpdateDriver { self }
}

extension ModuleApplication {
    package var bootloaderPlace: Peer? { nil }

    package func properties() async throws(ModuleError) -> (any PropertyHolder)? { nil }

    package var features: (any FeatureHolder)? { nil }

    package func news(
        before moment: Moment,
        asking: Bool
    ) async throws(ModuleError) -> ModuleNews? { nil }
}
