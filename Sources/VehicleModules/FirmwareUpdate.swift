import Domain
import Families
import Modules
import Sessions
import Synchronization

/// How far the bytes of an image are.
public struct FirmwareUpdateProgress: Sendable, Hashable {
    /// Bytes that the module has, by its own words.
    public let sent: Int
    public let total: Int
    /// Where this link took the image up.
    public let resumedFrom: Int
    /// Nil until it can be told.
    public let bytesPerSecond: Double?

    /// From 0 to 100.
    public var percent: Double { total > 0 ? Double(sent) / Double(total) * 100 : 100 }

    /// Nil until it can be told.
    public var remaining: Duration? {
        bytesPerSecond.map { .seconds(Double(total - sent) / $0) }
    }
}

/// Where an update stands.
public enum FirmwareUpdateStatus: Sendable, Hashable {
    /// The host's Bluetooth does not work; it is waited for.
    case bluetoothOff
    /// The module is listened for, in whichever of its programs it runs.
    case searching
    case handshaking
    /// It is asked what it is and runs.
    case inspecting
    /// It makes itself ready, and is asked what it has of the image.
    case initiating
    case uploading(FirmwareUpdateProgress)
    /// It has all of it and restarts; it is watched until it is at rest.
    case settling
    case confirming
    /// The last status: how it ended.
    case ended(FirmwareUpdateResult)
    /// The last status: what went wrong.
    case failed(ModuleFailure)

    /// Nothing follows.
    public var isLast: Bool {
        switch self {
        case .ended, .failed: true
        case .bluetoothOff, .searching, .handshaking, .inspecting, .initiating, .uploading,
            .settling, .confirming:
            false
        }
    }
}

/// How an update ended that did not fail.
public enum FirmwareUpdateResult: Sendable, Hashable {
    /// The module was at rest after its restarts, and reported this version twice.
    case updated(to: String)
    /// It runs the version already; nothing was sent.
    case alreadyCurrent(String?)
    /// At a safe point, because it was asked for: the same update goes on where it stands.
    case stopped
}

/// What an update may do, and how patient it is.
public struct FirmwareUpdateOptions: Sendable, Hashable {
    /// An older version than the one that runs may be put on, or one that nobody can compare.
    public var allowsDowngrade = false
    /// An MCUboot image that is confirmed already may be sent: it runs without a trial.
    public var allowsConfirmed = false
    /// The module must say that it is of this type; nil for any.
    public var type: Int?
    public var variant: Int?
    /// How often the whole is tried; broken links within one try are no new one.
    public var attempts = 5
    /// How long the module must be at rest before its version is believed; nil as its profile says.
    public var quiet: Duration?
    /// How long that may take after the upload; nil as its profile says.
    public var deadline: Duration?

    public init() {}
}

/// An update under way.
public struct FirmwareUpdate: Sendable {
    let current = Latest(FirmwareUpdateStatus.searching)
    let broken = Latest(0)
    let stopping = UpdateStop()

    public var status: FirmwareUpdateStatus { current.value }

    /// Links that broke while the image was sent, and were made good.
    public var interruptions: Int { broken.value }

    /// The status of now, then each newest one; it ends after `ended` or `failed`.
    ///
    /// However fast the status changes, a slow reader costs the memory of one, and misses only what is older
    /// than the newest.
    public var statuses: AsyncStream<FirmwareUpdateStatus> {
        let reader = LastingReader(Source(current.values())) { $0.isLast }
        return AsyncStream { await reader.next() }
    }

    /// Asks the update to end at the next safe point, where it can be taken up again.
    public func stop() { stopping.request() }

    /// How it ended; throws a `ModuleFailure` where it did not succeed.
    public func result() async throws(ModuleFailure) -> FirmwareUpdateResult {
        for await status in statuses {
            switch status {
            case .ended(let result): return result
            case .failed(let failure): throw failure
            case .bluetoothOff, .searching, .handshaking, .inspecting, .initiating, .uploading,
                .settling, .confirming:
                continue
            }
        }
        throw ModuleFailure(.aborted, "nobody waits for the update any more", "wait for it again")
    }
}

/// Set once, asked often.
final class UpdateStop: Sendable {
    private let isSet = Atomic<Bool>(false)

    var isRequested: Bool { isSet.load(ordering: .relaxed) }

    func request() { isSet.store(true, ordering: .relaxed) }
}

extension ModuleRadio {
    /// Brings a module to an image while `body` watches.
    ///
    /// The update ends with the body: one that has not ended by then is stopped at a safe point. `keep` is handed
    /// what must outlive the program, before that is acted upon, and nil once nothing is owed any more; the
    /// last record goes to `resuming` of the update that goes on.
    ///
    /// ```swift
    /// try await radio.withUpdate(of: "00a0000000000001", to: image, secret: secret) { update in
    ///     for await status in update.statuses { show(status) }
    /// }
    /// ```
    @discardableResult
    public func withUpdate<R: Sendable>(
        of serial: String,
        family: String = "comodule",
        profile: String = "generic",
        to image: FirmwareImage,
        secret: ModuleSecret? = nil,
        bond: ModuleBond? = nil,
        options: FirmwareUpdateOptions = FirmwareUpdateOptions(),
        resuming record: FirmwareUpdateRecord? = nil,
        keep: @escaping @Sendable (FirmwareUpdateRecord?) throws -> Void = { _ in },
        _ body: @Sendable (FirmwareUpdate) async throws -> R
    ) async throws -> R {
        let plan = try UpdatePlan(
            Self.serial(serial),
            Self.profile(profile, of: Self.family(family), in: library),
            image,
            secret?.secret,
            bond?.policy,
            options,
            resuming: record,
            keep: keep
        )
        return try await carry(plan, body)
    }

    /// Brings a module to an image; how it ended.
    @discardableResult
    public func update(
        _ serial: String,
        family: String = "comodule",
        profile: String = "generic",
        to image: FirmwareImage,
        secret: ModuleSecret? = nil,
        bond: ModuleBond? = nil,
        options: FirmwareUpdateOptions = FirmwareUpdateOptions(),
        resuming record: FirmwareUpdateRecord? = nil,
        keep: @escaping @Sendable (FirmwareUpdateRecord?) throws -> Void = { _ in }
    ) async throws -> FirmwareUpdateResult {
        try await withUpdate(
            of: serial,
            family: family,
            profile: profile,
            to: image,
            secret: secret,
            bond: bond,
            options: options,
            resuming: record,
            keep: keep
        ) { try await $0.result() }
    }

    func carry<R: Sendable>(
        _ plan: UpdatePlan,
        _ body: @Sendable (FirmwareUpdate) async throws -> R
    ) async throws -> R {
        let update = FirmwareUpdate()
        let (central, time, log) = (central, time, log)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let carrier = UpdateCarrier(plan, update, central, time, log)
                let end = await carrier.run()
                switch end {
                case .success(let result): update.current.set(.ended(result))
                case .failure(let failure): update.current.set(.failed(failure))
                }
            }
            let result = await Self.attempt { try await body(update) }
            update.stop()
            await group.waitForAll()
            return result
        }
        return try result.get()
    }

    static func family(_ name: String) throws(ModuleFailure) -> Family {
        if let family = FamilyRegistry.family(named: name) { return family }
        throw ModuleFailure(
            .invalidValue,
            "`\(name.visible.prefix(64))` is no family",
            "name one of " + FamilyRegistry.families.map(\.rawValue).joined(separator: ", ")
        )
    }
}

extension ConnectedModule {
    /// Brings the module to an image while `body` watches, and connects to it again.
    ///
    /// Meanwhile `state` is `firmwareUpdateOngoing`, and nothing can be written. The rest is as in
    /// `ModuleRadio.withUpdate`.
    @discardableResult
    public func withUpdate<R: Sendable>(
        to image: FirmwareImage,
        options: FirmwareUpdateOptions = FirmwareUpdateOptions(),
        resuming record: FirmwareUpdateRecord? = nil,
        keep: @escaping @Sendable (FirmwareUpdateRecord?) throws -> Void = { _ in },
        _ body: @Sendable (FirmwareUpdate) async throws -> R
    ) async throws -> R {
        let (radio, profile, connection, bond) = (radio, profile, connection, bond)
        let part = FirmwareTarget.Part(rawValue: image.part) ?? .image
        let result: Result<R, any Error>
        do throws(ConnectError) {
            result = try await connection.handOver(part) { serial, secret in
                await ModuleRadio.attempt {
                    let plan = try UpdatePlan(
                        serial,
                        profile,
                        image,
                        secret,
                        bond,
                        options,
                        resuming: record,
                        keep: keep,
                        stage: { await connection.updating(part, $0) }
                    )
                    return try await radio.carry(plan, body)
                }
            }
        } catch { throw ModuleFailure(error) }
        return try result.get()
    }
}
