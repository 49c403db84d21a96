package import Base
package import Radio

/// Why an image was not transferred to an ESP device.
package enum ESPUploadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It refuses to begin; right after an update this can mean that the new image is on trial.
    case refused
    /// The device did not accept a sector, although it was sent several times.
    case sector(Int)
    /// The device has received a part of an image that is not ours.
    case foreign(wanted: Int)
    case noAnswer(String)
    case malformed
    case link(LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .refused, .sector, .noAnswer: .transient
        case .foreign, .malformed: .device
        case .link(let failure): failure.failureClass
        }
    }

    package var description: String {
        switch self {
        case .refused: "the device does not begin with the image"
        case .sector(let number): "sector \(number) does not arrive"
        case .foreign(let wanted):
            "the device waits for sector \(wanted) of another image; it has to be switched off and on"
        case .noAnswer(let what): "no answer to \(what) in time"
        case .malformed: "the device's notification makes no sense"
        case .link(let failure): "in the upload: \(failure)"
        }
    }
}

/// Sends an image to an ESP device over one link, sector by sector, beginning with the sector that
/// the device waits for.
package struct ESPUpload: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `starting`, `sending`.
        case idle
        /// Next: `sending`, `ended`.
        case starting
        /// `tries` attempts at this sector failed.
        ///
        /// Next: `sending`, `draining`, `ended`.
        case sending(sector: Int, tries: Int)
        /// A packet was lost, and the device answers each packet after it with an error.
        ///
        /// Next: `clearing`.
        case draining(sector: Int, tries: Int)
        /// The data that the device holds of a sector is being invalidated.
        ///
        /// Next: `sending`.
        case clearing(sector: Int, tries: Int)
        case ended(Ending)
    }

    package enum Ending: Equatable, Sendable {
        case finished
        case stopped
        case failed(ESPUploadError)
    }

    package enum Action: Equatable, Sendable {
        /// Write to the command characteristic, then wait for its notification.
        case command(ESPCommand)
        /// Send this sector in packets; then `sent`.
        case send(sector: Int)
        /// Send a packet that invalidates the data that the device holds of the sector; then
        /// `sent`.
        case clear(sector: Int)
        case wait
        case ended(Ending)
    }

    /// This long after the last answer to a packet, no more answers are under way.
    package static let lull = Duration.seconds(1)
    static let mostTries = 3

    package private(set) var state = State.idle
    package private(set) var deadline: Moment?
    package private(set) var acknowledged: Int
    package let resumedFrom: Int
    private let total: Int
    private let startLimit: Duration
    private let sectorLimit: Duration
    /// The answer to the last sector arrives after the check of the whole image.
    private let checkLimit: Duration
    private var sectors: Int { (total + ESPNumbers.sectorLength - 1) / ESPNumbers.sectorLength }
    private var isAsked = false
    /// The device has begun and waits for the first sector: it may wait for an image of another
    /// length.
    private let isToBeStopped: Bool

    /// `wanted` is the sector that the device waits for; nil when it has not begun.
    package init(total: Int, wanted: Int?, times: UploadTimes = UploadTimes()) {
        self.total = total
        startLimit = times.erase ?? .seconds(60)
        sectorLimit = times.answer ?? .seconds(10)
        checkLimit = max(times.check ?? sectorLimit, sectorLimit)
        resumedFrom = (wanted ?? 0) * ESPNumbers.sectorLength
        acknowledged = min(resumedFrom, total)
        isToBeStopped = wanted == 0
    }

    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return pending }
        guard resumedFrom == 0 else {
            return send(resumedFrom / ESPNumbers.sectorLength, tries: 0, at: now)
        }
        state = .starting
        deadline = now.advanced(by: startLimit)
        return isToBeStopped ? .command(.stop) : .command(start)
    }

    private var start: ESPCommand { .start(length: UInt32(clamping: total)) }

    /// The radio took all packets of the sector.
    package mutating func sent(at now: Moment) -> Action {
        switch state {
        case .sending(let sector, _):
            deadline = now.advanced(by: sector + 1 == sectors ? checkLimit : sectorLimit)
            return .wait
        case .clearing:
            deadline = now.advanced(by: sectorLimit)
            return .wait
        case .idle, .starting, .draining, .ended: return pending
        }
    }

    /// A notification of the command characteristic.
    package mutating func commanded(_ bytes: [UInt8], at now: Moment) -> Action {
        guard case .starting = state else { return pending }
        guard case .acknowledge(let command, let isAccepted, _)? = try? ESPCommand(bytes) else {
            return .wait
        }
        // It was stopped, or there was nothing to stop: in both cases it begins now.
        if command == 2 { return .command(start) }
        guard command == 1 else { return .wait }
        guard isAccepted else { return end(.failed(.refused)) }
        return send(0, tries: 0, at: now)
    }

    /// A notification of the firmware characteristic.
    package mutating func acknowledged(_ bytes: [UInt8], at now: Moment) -> Action {
        switch state {
        case .idle, .starting, .ended: return pending
        case .draining(let sector, _):
            deadline = now.advanced(by: Self.lull)
            // The rest of the data that it held may have completed the sector.
            if let ack = try? ESPSectorAck(bytes), Int(ack.sector) == sector,
                ack.status == .accepted
            {
                return accepted(sector, at: now)
            }
            return .wait
        case .clearing(let sector, let tries):
            guard let ack = try? ESPSectorAck(bytes), Int(ack.sector) == sector else {
                return .wait
            }
            if ack.status == .sector, Int(ack.wanted) == sector + 1 {
                return accepted(sector, at: now)
            }
            return send(sector, tries: tries, at: now)
        case .sending(let sector, let tries):
            let ack: ESPSectorAck
            do throws(ESPFrameError) { ack = try ESPSectorAck(bytes) } catch {
                return again(sector, tries, at: now)
            }
            // A late answer to a sector that was sent twice.
            guard Int(ack.sector) == sector else { return .wait }
            switch ack.status {
            case .accepted: return accepted(sector, at: now)
            case .sector:
                guard Int(ack.wanted) < sectors, Int(ack.wanted) != sector else {
                    return again(sector, tries, at: now)
                }
                // Its acknowledgement of this sector was lost.
                guard Int(ack.wanted) == sector + 1 else {
                    return end(.failed(.foreign(wanted: Int(ack.wanted))))
                }
                return accepted(sector, at: now)
            case .checksum: return again(sector, tries, at: now)
            case .length:
                guard tries < Self.mostTries else { return end(.failed(.sector(sector))) }
                state = .draining(sector: sector, tries: tries + 1)
                deadline = now.advanced(by: Self.lull)
                return .wait
            }
        }
    }

    private mutating func accepted(_ sector: Int, at now: Moment) -> Action {
        acknowledged = min(total, (sector + 1) * ESPNumbers.sectorLength)
        return isAsked ? end(.stopped) : send(sector + 1, tries: 0, at: now)
    }

    /// Ends after the current sector.
    package mutating func stopRequested() { isAsked = true }

    package mutating func timeout(at now: Moment) -> Action {
        switch state {
        case .idle, .ended: return pending
        case .starting: return end(.failed(.noAnswer("the beginning")))
        case .draining(let sector, let tries):
            state = .clearing(sector: sector, tries: tries)
            deadline = now.advanced(by: sectorLimit)
            return .clear(sector: sector)
        case .sending(let sector, let tries), .clearing(let sector, let tries):
            return again(sector, tries, at: now)
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .idle, .ended: return pending
        case .sending(let sector, let tries):
            // Some devices report this as an error of the packet's write, and drop the data that
            // they hold of the sector.
            if case .refused = failure { return again(sector, tries, at: now) }
            // After the last sector the device restarts, and its answer may not arrive; or the
            // sector was lost. The next link shows which: the device runs the image, or waits for
            // the sector.
            return end(.failed(.link(failure)))
        case .starting, .draining, .clearing: return end(.failed(.link(failure)))
        }
    }

    private var pending: Action {
        if case .ended(let ending) = state { return .ended(ending) }
        return .wait
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .ended(ending)
        deadline = nil
        return .ended(ending)
    }

    private mutating func send(_ sector: Int, tries: Int, at now: Moment) -> Action {
        guard sector < sectors else {
            acknowledged = total
            return end(.finished)
        }
        state = .sending(sector: sector, tries: tries)
        deadline = now.advanced(by: sectorLimit)
        return .send(sector: sector)
    }

    private mutating func again(_ sector: Int, _ tries: Int, at now: Moment) -> Action {
        guard tries < Self.mostTries else { return end(.failed(.sector(sector))) }
        return send(sector, tries: tries + 1, at: now)
    }
}
