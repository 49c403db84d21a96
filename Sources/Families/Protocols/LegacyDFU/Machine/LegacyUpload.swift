package import Base
package import Radio

/// Sends one piece of firmware to a legacy bootloader, over one link and from its beginning.
///
/// A transfer cannot be continued on another link. After every fault the bootloader is asked to
/// restart, so that the next attempt finds it idle.
package struct LegacyUpload: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `starting`, `ended`.
        case idle
        /// The start request is being written.
        ///
        /// Next: `sizing`.
        case starting
        /// The sizes are being sent, or the bootloader erases before it answers them.
        ///
        /// Next: `beginningInit`.
        case sizing
        /// Next: `sendingInit`.
        case beginningInit
        /// Next: `endingInit`.
        case sendingInit
        /// Next: `agreeing`.
        case endingInit
        /// The receipt interval is being set.
        ///
        /// Next: `opening`.
        case agreeing
        /// Next: `sending`.
        case opening
        /// Bytes up to `sent` are on their way, those up to `counted` are acknowledged.
        ///
        /// Next: `sending`, `completing`.
        case sending(sent: Int, counted: Int)
        /// Everything is sent; the flash is being written.
        ///
        /// Next: `validating`.
        case completing
        /// Next: `activating`.
        case validating
        /// The bootloader restarts, with or without an answer. Next: `ended`.
        case activating
        /// After a fault, the bootloader is asked to restart.
        ///
        /// Next: `ended`.
        case clearing(LegacyUploadError)
        case ended(Ending)
    }

    package enum Ending: Equatable, Sendable {
        case finished
        /// Stopped on request; the bootloader was told to restart.
        case stopped
        case failed(LegacyUploadError)
    }

    /// The content of packets.
    package enum Load: Equatable, Sendable { case sizes, initPacket, image }

    package enum Action: Equatable, Sendable {
        /// Write to the control point; then `written`.
        case write(LegacyRequest)
        /// Send these bytes in packets; then `packetsSent`.
        case send(Load, Range<Int>)
        /// Wait for a notification or the deadline.
        case wait
        case ended(Ending)
    }

    /// The flow control and the time limits of an upload.
    package struct Settings: Equatable, Sendable {
        package let packetLength: Int
        /// The number of packets after which a receipt is due, and the most that are on their way.
        package let receiptInterval: Int
        package let answerLimit: Duration
        /// For the answer to the sizes: the bootloader erases before it.
        package let eraseLimit: Duration
        package let receiptLimit: Duration
        /// For the answer to the image: the bootloader writes the last pages before it.
        package let completeLimit: Duration
        /// For the answer to the validation: the bootloader reads the whole image before it.
        package let checkLimit: Duration

        package init(
            packetLength: Int = LegacyNumbers.packetLength,
            receiptInterval: Int = 10,
            answerLimit: Duration = .seconds(10),
            eraseLimit: Duration = .seconds(60),
            receiptLimit: Duration = .seconds(5),
            completeLimit: Duration = .seconds(60),
            checkLimit: Duration = .seconds(10)
        ) {
            self.packetLength = packetLength
            self.receiptInterval = receiptInterval
            self.answerLimit = answerLimit
            self.eraseLimit = eraseLimit
            self.receiptLimit = receiptLimit
            self.completeLimit = completeLimit
            self.checkLimit = checkLimit
        }

        /// Settings for a pace: the higher the pace, the fewer packets are on their way.
        package init(pace: Int, times: UploadTimes = UploadTimes()) {
            let answer = times.answer ?? .seconds(10)
            self.init(
                receiptInterval: pace <= 0 ? 10 : pace == 1 ? 6 : pace == 2 ? 3 : 1,
                answerLimit: answer,
                eraseLimit: times.erase ?? .seconds(60),
                checkLimit: times.check ?? answer
            )
        }
    }

    package let settings: Settings
    package private(set) var state = State.idle
    /// The time at which `timeout` is due.
    package private(set) var deadline: Moment?
    /// The number of bytes that the bootloader has counted.
    package var acknowledged: Int {
        switch state {
        case .sending(_, let counted): counted
        case .completing, .validating, .activating, .ended(.finished): total
        case .idle, .starting, .sizing, .beginningInit, .sendingInit, .endingInit, .agreeing,
            .opening, .clearing, .ended:
            0
        }
    }

    private let type: LegacyImageType
    private let initLength: Int
    private let total: Int
    /// Some bootloaders keep counting over several attempts: the first receipt shows where the
    /// count began.
    private var base: Int?
    private var mayStop = false

    package init(
        _ type: LegacyImageType,
        initLength: Int,
        total: Int,
        settings: Settings = Settings()
    ) {
        self.type = type
        self.initLength = initLength
        self.total = total
        self.settings = settings
    }

    // MARK: Events

    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return pending }
        guard total > 0, total % 4 == 0, total <= Int(UInt32.max) else {
            return end(.failed(.unfit("the image has \(total) bytes, which are no whole words")))
        }
        guard (1...LegacyInitPacket.longest).contains(initLength) else {
            return end(.failed(.unfit("the init packet has \(initLength) bytes")))
        }
        return go(to: .starting, .write(.start(type)), settings.answerLimit, at: now)
    }

    /// The control point confirmed the write.
    package mutating func written(at now: Moment) -> Action {
        switch state {
        case .starting: return go(to: .sizing, .send(.sizes, 0..<12), settings.eraseLimit, at: now)
        case .beginningInit:
            return go(
                to: .sendingInit,
                .send(.initPacket, 0..<initLength),
                settings.answerLimit,
                at: now
            )
        case .endingInit, .validating: return .wait
        case .agreeing: return go(to: .opening, .write(.receive), settings.answerLimit, at: now)
        case .opening: return sendMore(from: 0, counted: 0, at: now)
        // It restarts, and the link ends; until then there is nothing to send.
        case .activating: return end(.finished)
        case .clearing(let error): return end(mayStop ? .stopped : .failed(error))
        case .idle, .sizing, .sendingInit, .sending, .completing, .ended: return pending
        }
    }

    package mutating func packetsSent(at now: Moment) -> Action {
        switch state {
        case .sizing: return .wait
        case .sendingInit:
            return go(to: .endingInit, .write(.endInit), settings.answerLimit, at: now)
        case .sending(let sent, _):
            if sent == total { return go(to: .completing, .wait, settings.completeLimit, at: now) }
            deadline = now.advanced(by: settings.receiptLimit)
            return .wait
        case .idle, .starting, .beginningInit, .endingInit, .agreeing, .opening, .completing,
            .validating, .activating, .clearing, .ended:
            return pending
        }
    }

    package mutating func notified(_ bytes: [UInt8], at now: Moment) -> Action {
        let answer: LegacyAnswer
        do throws(LegacyAnswerError) { answer = try LegacyAnswer(bytes) } catch {
            return clear(.malformed(bytes), at: now)
        }
        switch answer {
        case .receipt(let count): return receipt(Int(count), at: now)
        case .size: return .wait
        case .result(let operation, let result): return answered(operation, result, at: now)
        }
    }

    /// Stops sending the image.
    package mutating func stopRequested(at now: Moment) -> Action? {
        switch state {
        case .sending:
            mayStop = true
            return clear(.noAnswer(.data), at: now)
        case .idle, .starting, .sizing, .beginningInit, .sendingInit, .endingInit, .agreeing,
            .opening, .completing, .validating, .activating, .clearing, .ended:
            return nil
        }
    }

    package mutating func timeout(at now: Moment) -> Action {
        switch state {
        case .idle, .ended: return pending
        case .activating: return end(.finished)
        case .clearing(let error): return end(mayStop ? .stopped : .failed(error))
        case .starting, .sizing, .beginningInit, .sendingInit, .endingInit, .agreeing, .opening,
            .sending, .completing, .validating:
            return clear(.noAnswer(stage), at: now)
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .idle, .ended: return pending
        // It restarts without an answer.
        case .activating: return end(.finished)
        case .clearing(let error): return end(mayStop ? .stopped : .failed(error))
        case .starting, .sizing, .beginningInit, .sendingInit, .endingInit, .agreeing, .opening,
            .sending, .completing, .validating:
            if failure == .lost { return end(.failed(.link(stage, failure))) }
            return clear(.link(stage, failure), at: now)
        }
    }

    // MARK: Moving on

    private var pending: Action {
        if case .ended(let ending) = state { return .ended(ending) }
        return .wait
    }

    private mutating func go(
        to next: State,
        _ action: Action,
        _ limit: Duration,
        at now: Moment
    ) -> Action {
        state = next
        deadline = now.advanced(by: limit)
        return action
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .ended(ending)
        deadline = nil
        return .ended(ending)
    }

    private mutating func clear(_ error: LegacyUploadError, at now: Moment) -> Action {
        go(to: .clearing(error), .write(.reset), settings.answerLimit, at: now)
    }

    private var stage: LegacyUploadError.Stage {
        switch state {
        case .idle, .starting, .ended, .clearing: .start
        case .sizing: .sizes
        case .beginningInit, .sendingInit, .endingInit: .initPacket
        case .agreeing, .opening, .sending, .completing: .data
        case .validating: .validation
        case .activating: .activation
        }
    }

    private mutating func answered(
        _ operation: LegacyRequest.Operation,
        _ result: LegacyResult,
        at now: Moment
    ) -> Action {
        guard result == .success else { return refused(operation, result, at: now) }
        switch (state, operation) {
        case (.sizing, .start):
            return go(to: .beginningInit, .write(.beginInit), settings.answerLimit, at: now)
        case (.endingInit, .initialize):
            let every = UInt16(clamping: settings.receiptInterval)
            return go(to: .agreeing, .write(.receipts(every: every)), settings.answerLimit, at: now)
        case (.sending(total, _), .receive), (.completing, .receive):
            return go(to: .validating, .write(.validate), settings.checkLimit, at: now)
        case (.validating, .validate):
            return go(to: .activating, .write(.activate), settings.answerLimit, at: now)
        default:
            // A repeated or late answer.
            return .wait
        }
    }

    private mutating func refused(
        _ operation: LegacyRequest.Operation,
        _ result: LegacyResult,
        at now: Moment
    ) -> Action {
        switch state {
        case .idle, .ended, .clearing, .activating: return pending
        case .starting, .sizing:
            if result == .invalidState { return clear(.earlierAttempt, at: now) }
            return clear(.refused(stage, result), at: now)
        case .beginningInit, .sendingInit, .endingInit, .agreeing, .opening, .sending,
            .completing, .validating:
            return clear(.refused(stage, result), at: now)
        }
    }

    private mutating func receipt(_ count: Int, at now: Moment) -> Action {
        guard case .sending(let sent, let counted) = state else { return .wait }
        let first = settings.receiptInterval * settings.packetLength
        let base = self.base ?? max(0, count - min(first, total))
        self.base = base
        let here = count - base
        guard here > counted else { return .wait }
        guard here == sent else {
            return clear(.lostPackets(sent: sent, counted: here), at: now)
        }
        return sendMore(from: sent, counted: here, at: now)
    }

    private mutating func sendMore(from sent: Int, counted: Int, at now: Moment) -> Action {
        guard sent < total else {
            state = .sending(sent: sent, counted: counted)
            return go(to: .completing, .wait, settings.completeLimit, at: now)
        }
        let next = min(total, sent + settings.receiptInterval * settings.packetLength)
        return go(
            to: .sending(sent: next, counted: counted),
            .send(.image, sent..<next),
            settings.receiptLimit,
            at: now
        )
    }
}
