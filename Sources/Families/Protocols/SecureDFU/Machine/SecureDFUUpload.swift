package import Base
package import Radio

/// The client's side of one Secure DFU upload on one link (nRF5 SDK 12 to 17).
///
/// It begins by asking the target what it has, and sends only what is missing. So after a lost link
/// a new machine on the next link is enough. Sent bytes do not count as received: only the target's
/// own offset and checksum count, in receipts after every few packets and at the end of each
/// object. Late and repeated notifications are skipped; for lost ones the client sends the request
/// again.
///
/// The shell performs one action at a time and reports its result. While it sends packets it may
/// leave notifications waiting, since a range is never longer than the window allows.
package struct SecureDFUUpload: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `selectingInit`.
        case idle
        /// Asking how much of the init packet the target has.
        ///
        /// Next: `silencing`, `executingInit`.
        case selectingInit
        /// Switching receipts off, because the init packet is checked as a whole; with nil it is
        /// created again.
        ///
        /// Next: `creatingInit`, `sendingInit`.
        case silencing(resumingAt: Int?)
        /// Next: `sendingInit`.
        case creatingInit
        /// Next: `checkingInit`.
        case sendingInit
        /// Next: `executingInit`, `creatingInit`.
        case checkingInit(asked: Int)
        /// Next: `settingReceipts`.
        case executingInit(resumed: Bool)
        /// Next: `selectingData`.
        case settingReceipts
        /// Asking how much of the image the target has.
        ///
        /// Next: `creating`, `sending`, `executing`, `silencing`.
        case selectingData
        /// Next: `pausing`, `sending`, `silencing`.
        case creating(UploadObject)
        /// Next: `sending`.
        case pausing(UploadObject)
        /// The radio is sending a range.
        ///
        /// Next: `awaitingReceipt`, `checking`, `creating`.
        case sending(UploadObject)
        /// The window is full. Next: `sending`, `checking`, `creating`.
        case awaitingReceipt(UploadObject)
        /// Asking whether all sent bytes have arrived.
        ///
        /// Next: `executing`, `sending`, `creating`.
        case checking(UploadObject, asked: Int)
        /// Next: `creating`, `finished`, `finishedOrLost`, `stopped`.
        case executing(UploadObject, resumed: Bool)
        case ended(Ending)
    }

    /// How an upload ends; any state can end as `failed`.
    package enum Ending: Equatable, Sendable {
        case finished
        /// The link ended while the last object was executed: the target has the whole image and
        /// may or may not have accepted it.
        case finishedOrLost
        /// Stopped on request; all objects before this offset are executed or complete.
        case stopped(at: Int)
        case failed(UploadError)
    }

    package enum Action: Equatable, Sendable {
        /// Write to the control point, then wait for a notification.
        case write(DFURequest)
        /// Send these bytes in packets of `packetLength`, then call `packetsSent`.
        case send(Range<Int>, of: UploadError.Part)
        /// Wait for a notification, at most until `deadline`.
        case wait
        /// Call `pauseOver` at this moment.
        case pause(until: Moment)
        case ended(Ending)
    }

    /// How often a checksum is requested before the target counts as silent.
    static let askingLimit = 3

    package let settings: UploadSettings
    package internal(set) var state = State.idle
    /// The time at which `timeout` is due; nil before the beginning and after the end.
    package internal(set) var deadline: Moment?
    /// The number of image bytes that the target reports to have.
    package internal(set) var acknowledged = 0
    /// The offset at which this link continued the image.
    package internal(set) var resumedFrom = 0
    /// Image bytes that were passed to the radio on this link, repeats included.
    package internal(set) var sent = 0

    let initPacket: [UInt8]
    let image: PrefixChecksums
    /// The size of a full data object.
    var objectSize = 0
    var initTriesLeft: Int
    var isStopping = false
    /// Whether the pause before the first data object of this link is over.
    var hasPaused = false
    /// The pause before the first data object of this link, after it did not arrive at the first
    /// attempt.
    var delayAfterLoss = Duration.zero
    /// Whether a data object was executed on this link.
    var hasExecuted = false
    /// Whether the target had image bytes at the beginning: they may be the reason when nothing
    /// matches.
    var foundProgress = false
    var startedOver = false

    package init(_ part: FirmwarePart, settings: UploadSettings) {
        initPacket = part.initPacket
        image = part.checksums
        self.settings = settings
        initTriesLeft = settings.retriesPerObject
    }

    package var total: Int { image.bytes.count }

    // MARK: Events

    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return pending }
        guard (1...Int(UInt32.max)).contains(initPacket.count) else {
            return end(.failed(.unfitLength(of: .initPacket, initPacket.count)))
        }
        guard (1...Int(UInt32.max)).contains(total) else {
            return end(.failed(.unfitLength(of: .image, total)))
        }
        return ask(.select(.command), in: .selectingInit, at: now)
    }

    /// The control point sent a notification.
    package mutating func response(_ bytes: [UInt8], at now: Moment) -> Action {
        switch state {
        case .idle, .ended:
            return pending
        case .selectingInit, .silencing, .creatingInit, .sendingInit, .checkingInit,
            .executingInit, .settingReceipts, .selectingData, .creating, .pausing, .sending,
            .awaitingReceipt, .checking, .executing:
            break
        }
        let response: DFUResponse
        do {
            response = try DFUResponse(bytes)
        } catch {
            return end(.failed(.malformed(bytes)))
        }
        let action = take(response, at: now)
        // Notifications without progress must not keep us beyond the deadline.
        guard action == .wait, let deadline, now >= deadline else { return action }
        return timeout(at: now)
    }

    /// The radio took all packets of the last range.
    package mutating func packetsSent(at now: Moment) -> Action {
        switch state {
        case .sendingInit:
            return ask(.checksum, in: .checkingInit(asked: 1), at: now)
        case .sending(let object):
            guard object.handed == object.end else { return sendMore(of: object, at: now) }
            return askForChecksum(of: object, asked: 1, at: now)
        case .idle, .selectingInit, .silencing, .creatingInit, .checkingInit, .executingInit,
            .settingReceipts, .selectingData, .creating, .pausing, .awaitingReceipt, .checking,
            .executing, .ended:
            return pending
        }
    }

    package mutating func pauseOver(at now: Moment) -> Action {
        switch state {
        case .pausing(let object):
            return sendMore(of: object, at: now)
        case .idle, .selectingInit, .silencing, .creatingInit, .sendingInit, .checkingInit,
            .executingInit, .settingReceipts, .selectingData, .creating, .sending,
            .awaitingReceipt, .checking, .executing, .ended:
            return pending
        }
    }

    /// Ends the upload before the next object: there, resuming costs nothing.
    package mutating func stopRequested() -> Action {
        guard state == .idle else {
            isStopping = true
            return pending
        }
        return end(.stopped(at: 0))
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .executing(let object, _) where object.end == total && failure == .lost:
            return end(.finishedOrLost)
        case .ended:
            return pending
        case .idle, .selectingInit, .silencing, .creatingInit, .sendingInit, .checkingInit,
            .executingInit, .settingReceipts, .selectingData, .creating, .pausing, .sending,
            .awaitingReceipt, .checking, .executing:
            return end(.failed(.link(failure)))
        }
    }

    package mutating func timeout(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return pending }
        switch state {
        case .selectingInit: return mute(.select, .initPacket)
        case .silencing: return mute(.setReceiptInterval, .initPacket)
        case .creatingInit: return mute(.create, .initPacket)
        case .executingInit: return mute(.execute, .initPacket)
        case .settingReceipts: return mute(.setReceiptInterval, .image)
        case .selectingData: return mute(.select, .image)
        case .creating: return mute(.create, .image)
        case .executing: return mute(.execute, .image)
        case .sendingInit, .sending:
            return end(.failed(.noProgress(acknowledged: acknowledged)))
        case .checkingInit(let asked):
            guard asked < Self.askingLimit else { return mute(.checksum, .initPacket) }
            return ask(.checksum, in: .checkingInit(asked: asked + 1), at: now)
        case .pausing(let object):
            return sendMore(of: object, at: now)
        case .awaitingReceipt(let object):
            // Every receipt for sent packets has had its time: the next answer is the checksum that
            // was requested.
            return askForChecksum(of: object, asked: 2, at: now)
        case .checking(let object, let asked):
            guard asked < Self.askingLimit else { return mute(.checksum, .image) }
            return askForChecksum(of: object, asked: asked + 1, at: now)
        case .idle, .ended:
            return pending
        }
    }

    // MARK: Moving on

    /// The action after an event that changed nothing.
    private var pending: Action {
        guard case .ended(let ending) = state else { return .wait }
        return .ended(ending)
    }

    mutating func ask(
        _ request: DFURequest,
        in next: State,
        at now: Moment,
        limit: Duration? = nil
    ) -> Action {
        state = next
        deadline = now.advanced(by: limit ?? settings.answerLimit)
        return .write(request)
    }

    mutating func end(_ ending: Ending) -> Action {
        deadline = nil
        state = .ended(ending)
        return .ended(ending)
    }

    private mutating func mute(_ operation: DFUOperation, _ part: UploadError.Part) -> Action {
        end(.failed(.noAnswer(operation, of: part)))
    }
}
