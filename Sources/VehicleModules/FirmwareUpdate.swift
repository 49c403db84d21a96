import Base
import Families
import Radio
import Synchronization

/// The progress of an upload.
public struct FirmwareUpdateProgress: Sendable, Hashable {
    /// The number of bytes that the module has, by its own reports.
    public let sent: Int
    /// The number of bytes of the image.
    public let total: Int
    /// The offset at which this link continued the image.
    public let resumedFrom: Int
    /// Nil until it is known.
    public let bytesPerSecond: Double?

    /// The percentage, from 0 to 100.
    public var percent: Double { total > 0 ? Double(sent) / Double(total) * 100 : 100 }

    /// Nil until it is known.
    public var remaining: Duration? {
        bytesPerSecond.map { .seconds(Double(total - sent) / $0) }
    }
}

/// The status of an update.
public enum FirmwareUpdateStatus: Sendable, Hashable {
    /// The host's Bluetooth does not work; the update waits for it for two minutes, then fails.
    case bluetoothOff
    /// The update searches for the module, in either of its programs.
    case searching
    /// The module was heard; a link to it is made and opened.
    case handshaking
    /// The module is asked for its identity and versions.
    case inspecting
    /// The module prepares for the image, and is asked what it already has of it.
    case initiating
    /// The image is sent.
    case uploading(FirmwareUpdateProgress)
    /// The module has the whole image and restarts; it is observed until it is at rest.
    case settling
    /// The module is told to keep the image that it runs on trial.
    case confirming
    /// The last status of an update that did not fail: its result.
    case ended(FirmwareUpdateResult)
    /// The last status of an update that failed: the reason.
    case failed(ModuleFailure)

    /// Whether no further status follows.
    var isLast: Bool {
        switch self {
        case .ended, .failed: true
        case .bluetoothOff, .searching, .handshaking, .inspecting, .initiating, .uploading,
            .settling, .confirming:
            false
        }
    }
}

/// The result of an update that did not fail.
public enum FirmwareUpdateResult: Sendable, Hashable {
    /// The module was at rest after its restarts, and reported this version twice.
    case updated(to: String)
    /// The module already runs the version; nothing was sent.
    case alreadyCurrent(String?)
    /// Stopped at a safe point, as requested: the same update can be continued later.
    case stopped
}

/// What an update may do, and its time limits.
public struct FirmwareUpdateOptions: Sendable, Hashable {
    /// Whether a version may be installed that is older than the running one, or cannot be compared
    /// with it.
    public var allowsDowngrade = false
    /// Whether an MCUboot image that is marked as confirmed may be sent: it runs without a trial.
    public var allowsConfirmed = false
    /// The type that the module must report; nil for any.
    public var type: Int?
    /// The variant that the module must report; nil for any.
    public var variant: Int?
    /// How often the update is attempted when links fail; those lost within one attempt do not count.
    ///
    /// A module that reports an error is tried once more in any case.
    public var attempts = 5
    /// How long the module must be at rest before its version counts; nil for the profile's value.
    public var quiet: Duration?
    /// The time limit for that after the upload; nil for the profile's value.
    public var deadline: Duration?

    /// The usual options: no downgrade, five attempts, the times of the profile.
    public init() {}
}

/// An update that is running.
public struct FirmwareUpdate: Sendable {
    let current = Latest(FirmwareUpdateStatus.searching)
    let broken = Latest(0)
    let stopping = UpdateStop()

    /// The status of the update now.
    public var status: FirmwareUpdateStatus { current.value }

    /// The number of links that were lost while the image was sent, and were replaced.
    public var interruptions: Int { broken.value }

    /// The current status, and each new one; it ends after `ended` or `failed`.
    ///
    /// However fast the status changes, a slow reader costs the memory of one status, and misses
    /// only older ones, never the newest.
    public var statuses: AsyncStream<FirmwareUpdateStatus> {
        current.values { $0.isLast }
    }

    /// Requests that the update ends at the next safe point, where it can be continued later.
    public func stop() { stopping.request() }

    /// The result of the update; throws a `ModuleFailure` where it did not succeed.
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
        throw ModuleFailure(.aborted, "the wait for the update was cancelled", "wait for it again")
    }
}

/// A stop request that is set once and checked often.
final class UpdateStop: Sendable {
    private let isSet = Atomic<Bool>(false)

    var isRequested: Bool { isSet.load(ordering: .relaxed) }

    func request() { isSet.store(true, ordering: .relaxed) }
}

extension ModuleRadio {
    /// Updates a module to an image while `body` runs.
    ///
    /// A failed update is a status, `failed`. Only `result()` throws it: call it in the body.
    ///
    /// The update ends with the body: one that has not ended by then is stopped at a safe point.
    /// `keep` gets what must outlive the program before the update acts on it, and nil once nothing
    /// is owed any more. Pass the last record as `resuming` to continue the update.
    ///
    /// ```swift
    /// try await radio.withUpdate(of: "00a0000000000001", to: image, secret: secret) { update in
    ///     for await status in update.statuses { show(status) }
    ///     show(try await update.result())
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
            Self.profile(profile, of: self.family(named: family), in: library),
            image,
            secret?.secret,
            bond?.policy,
            options,
            in: library,
            resuming: record,
            keep: keep
        )
        return try await carry(plan, body)
    }

    /// Updates a module to an image; returns the result.
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
        let result = await Self.beside {
            switch await UpdateCarrier(plan, update, central, time, log).run() {
            case .success(let result): update.current.set(.ended(result))
            case .failure(let failure): update.current.set(.failed(failure))
            }
        } _: {
            try await body(update)
        } mustEnd: {
            // It ends by itself at a safe point.
            update.stop()
            return false
        }
        return try result.get()
    }

    func family(named name: String) throws(ModuleFailure) -> Family {
        if let family = library.families.first(where: { $0.rawValue == name }) { return family }
        throw ModuleFailure(
            .invalidValue,
            "`\(name.visible.prefix(64))` is no family",
            "name one of " + library.families.map(\.rawValue).joined(separator: ", ")
        )
    }
}

extension ConnectedModule {
    /// Updates the module to an image while `body` runs, and connects to it again.
    ///
    /// During the update `state` is `firmwareUpdateOngoing`, and nothing can be written. Everything
    /// else is as in `ModuleRadio.withUpdate`.
    @discardableResult
    public func withUpdate<R: Sendable>(
        to image: FirmwareImage,
        options: FirmwareUpdateOptions = FirmwareUpdateOptions(),
        resuming record: FirmwareUpdateRecord? = nil,
        keep: @escaping @Sendable (FirmwareUpdateRecord?) throws -> Void = { _ in },
        _ body: @Sendable (FirmwareUpdate) async throws -> R
    ) async throws -> R {
        let (radio, connection) = (radio, connection)
        let part = (FirmwareTarget.Part(rawValue: image.part) ?? .image).rawValue
        let result = try await connection.handOver(part) { target in
            await ModuleRadio.attempt {
                let plan = try UpdatePlan(
                    target.serial,
                    target.options.profile,
                    image,
                    target.secret,
                    target.options.bond,
                    options,
                    in: radio.library,
                    resuming: record,
                    keep: keep,
                    stage: { await connection.updating(part, $0, percent: $1) }
                )
                return try await radio.carry(plan, body)
            }
        }
        return try result.get()
    }

    /// Updates the module to the image of its available update, and connects to it again.
    ///
    /// `updateStatuses` show the progress. Everything else is as in `ModuleRadio.withUpdate`.
    @discardableResult
    public func updateFirmware(
        options: FirmwareUpdateOptions = FirmwareUpdateOptions(),
        resuming record: FirmwareUpdateRecord? = nil,
        keep: @escaping @Sendable (FirmwareUpdateRecord?) throws -> Void = { _ in }
    ) async throws -> FirmwareUpdateResult {
        guard let (part, fetch) = await connection.offer else {
            throw await connection.hindrance
                ?? ModuleFailure(
                    .updateRejected,
                    "there is no update for the module",
                    "answer the check of `updates` with one"
                )
        }
        let image = try await connection.fetching(part) {
            do { return .success(try await fetch()) } catch {
                return .failure(error as? ModuleFailure ?? .notFetched(error))
            }
        }
        guard image.part == part || part == FirmwareTarget.Part.image.rawValue else {
            throw ModuleFailure(
                .invalidImage,
                "the image is for part \(image.part), and the update for \(part)",
                "answer the check with the part of the image"
            )
        }
        return try await withUpdate(to: image, options: options, resuming: record, keep: keep) {
            try await $0.result()
        }
    }
}

extension ModuleFailure {
    fileprivate static func notFetched(_ error: any Error) -> ModuleFailure {
        ModuleFailure(
            error is CancellationError ? .aborted : .networkError,
            "the image of the update could not be fetched: \(error)",
            "check the network, and update again"
        )
    }
}
