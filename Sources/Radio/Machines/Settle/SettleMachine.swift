package import Base

/// One observation of a module that settles.
package struct Observation: Equatable, Sendable {
    /// Whether the module reports or shows that it is busy with the update.
    package let ongoing: Bool
    /// Nil when it could not be read.
    package let version: FirmwareVersion?
    /// Whether it runs exactly this build, by its own identifiers of the running image; nil where
    /// it has none.
    package let isBuild: Bool?
    /// Nil when the module does not count its starts.
    package let bootCount: UInt32?
    /// The time since its start; nil when the module does not report it.
    package let uptime: Duration?
    /// False while the image runs on trial; nil when the module knows no trial.
    package let isConfirmed: Bool?
    /// What the module still has of the image when it does not run it; nil when the module does not
    /// report this.
    package let remains: Remains?

    /// What a module that runs another image still has of the image that it took.
    package enum Remains: Equatable, Sendable {
        /// The image is still where it was written, but will not run: it has had its trial.
        case tried
        /// The image will run after the next restart.
        case waiting
        case nothing
    }

    package init(
        ongoing: Bool,
        version: FirmwareVersion?,
        isBuild: Bool? = nil,
        bootCount: UInt32? = nil,
        uptime: Duration? = nil,
        isConfirmed: Bool? = nil,
        remains: Remains? = nil
    ) {
        self.ongoing = ongoing
        self.version = version
        self.isBuild = isBuild
        self.bootCount = bootCount
        self.uptime = uptime
        self.isConfirmed = isConfirmed
        self.remains = remains
    }
}

/// Waits after an upload until the module is at rest, and determines what it then runs.
///
/// "Disconnected" is neither done nor failed, and a version read once proves nothing. Quiet is the
/// connected time since the last sign of work. A link that ends counts as a restart, so the quiet
/// time starts again with the next link. It also starts again when the boot counter or the version
/// changes.
package struct SettleMachine: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// No link. Next: `watching`, `ended`.
        case away
        /// Linked and reading. Next: `away`, `leaving`, `ended`.
        case watching(Watch)
        /// Nothing can be read on this link, so the machine ends it.
        ///
        /// Next: `away`, `watching`, `ended`.
        case leaving
        case ended(SettleVerdict)
    }

    /// The facts that were observed on one link.
    package struct Watch: Equatable, Sendable {
        /// When the last sign of work was seen.
        var quietSince: Moment
        var ongoing = false
        /// The version that has been read without a sign of work since `Reading.since`.
        var reading: Reading?
        /// The number of consecutive observations without a version.
        var unread = 0
        var bootCount: UInt32?
        var uptime: Duration?
        var nextLook: Moment
    }

    /// A version, with the time of its first reading and whether it was read again.
    package struct Reading: Equatable, Sendable {
        let version: FirmwareVersion
        let isBuild: Bool?
        var remains: Observation.Remains?
        let since: Moment
        var seenAgain = false

        /// The module reports that the image is gone or has had its trial, so the version will not
        /// change.
        var isFinal: Bool {
            switch remains {
            case .tried, .nothing: true
            case .waiting, nil: false
            }
        }
    }

    package enum Action: Equatable, Sendable {
        /// Look for the module from this moment on and connect to it.
        case seek(from: Moment)
        /// Observe the module at this moment.
        case observe(at: Moment)
        /// End the link; after `disconnected`, the machine returns when to seek again.
        case disconnectAndWait
        /// Nothing to do before `nextDeadline`.
        case wait
        case finished(SettleVerdict)
    }

    /// The number of observations without a version after which a new link is tried: the host may
    /// have cached services that the new firmware does not have.
    static let unreadLimit = 3

    package let target: FirmwareVersion
    package let rules: SettleRules
    /// When the machine reaches a verdict in any case.
    package let deadline: Moment
    package private(set) var state = State.away
    /// The number of signs of a restart since the upload, including those in earlier runs.
    package private(set) var restarts: Int
    /// Whether the target version was read since the upload, in this run or an earlier one.
    package private(set) var targetSeen: Bool

    /// Begins or resumes a settling; `deadline` is the one in the journal.
    package init(
        target: FirmwareVersion,
        rules: SettleRules,
        deadline: WallTime,
        now: Moment,
        wallTime: WallTime,
        restarts: Int = 0,
        targetSeen: Bool = false
    ) {
        self.target = target
        self.targetSeen = targetSeen
        self.rules = rules
        self.deadline = rules.moment(of: deadline, now: now, wallTime: wallTime)
        self.restarts = restarts
    }

    /// When `tick` is due at the latest; nil at the end.
    package var nextDeadline: Moment? {
        switch state {
        case .away, .leaving: deadline
        case .watching(let watch): min(watch.nextLook, deadline)
        case .ended: nil
        }
    }

    /// Whether the machine has a link, as far as the events show.
    package var isLinked: Bool {
        switch state {
        case .watching, .leaving: true
        case .away, .ended: false
        }
    }

    package mutating func begin(at now: Moment) -> Action {
        switch state {
        case .away: orVerdict(.seek(from: now), at: now)
        case .watching(let watch): orVerdict(.observe(at: watch.nextLook), at: now)
        case .leaving: orVerdict(.disconnectAndWait, at: now)
        case .ended(let verdict): .finished(verdict)
        }
    }

    package mutating func connected(at now: Moment) -> Action {
        switch state {
        case .away, .leaving:
            break
        case .watching:
            // A second link without the end of the first: the first ended unnoticed, which counts
            // as a restart.
            countRestart()
        case .ended(let verdict):
            return .finished(verdict)
        }
        state = .watching(Watch(quietSince: now, nextLook: now))
        return orVerdict(.observe(at: now), at: now)
    }

    package mutating func disconnected(at now: Moment) -> Action {
        switch state {
        case .away:
            return orVerdict(.seek(from: now), at: now)
        case .watching:
            countRestart()
            state = .away
            return orVerdict(.seek(from: now), at: now)
        case .leaving:
            state = .away
            return orVerdict(.seek(from: now.advanced(by: rules.poll)), at: now)
        case .ended(let verdict):
            return .finished(verdict)
        }
    }

    package mutating func observed(_ observation: Observation, at now: Moment) -> Action {
        switch state {
        case .away:
            // An observation from a link that has ended: it may be older than the restart.
            return orVerdict(.seek(from: now), at: now)
        case .leaving:
            return orVerdict(.disconnectAndWait, at: now)
        case .ended(let verdict):
            return .finished(verdict)
        case .watching(var watch):
            note(observation, in: &watch, at: now)
            if let verdict = verdict(on: watch, at: now) { return end(verdict) }
            if watch.unread >= Self.unreadLimit {
                state = .leaving
                return orVerdict(.disconnectAndWait, at: now)
            }
            watch.nextLook = nextLook(after: watch, at: now)
            state = .watching(watch)
            return orVerdict(.observe(at: watch.nextLook), at: now)
        }
    }

    package mutating func tick(at now: Moment) -> Action {
        switch state {
        case .away:
            // A search without a result: the module may need minutes to advertise again.
            return orVerdict(.seek(from: now), at: now)
        case .leaving:
            return orVerdict(.wait, at: now)
        case .watching(let watch):
            return orVerdict(
                watch.nextLook <= now ? .observe(at: watch.nextLook) : .wait,
                at: now
            )
        case .ended(let verdict):
            return .finished(verdict)
        }
    }

    private mutating func note(_ seen: Observation, in watch: inout Watch, at now: Moment) {
        watch.ongoing = seen.ongoing
        if isTarget(seen.version, seen.isBuild) { targetSeen = true }
        if let bootCount = seen.bootCount {
            if let before = watch.bootCount, before != bootCount {
                countRestart()
                watch.quietSince = now
                watch.reading = nil
            }
            watch.bootCount = bootCount
        }
        if let uptime = seen.uptime {
            if let before = watch.uptime, uptime < before {
                countRestart()
                watch.quietSince = now
                watch.reading = nil
            }
            watch.uptime = uptime
        }
        if seen.ongoing {
            watch.quietSince = now
            watch.reading = nil
            watch.unread = 0
            return
        }
        guard let version = seen.version else {
            watch.unread += 1
            return
        }
        watch.unread = 0
        if let reading = watch.reading {
            guard reading.version != version || reading.isBuild != seen.isBuild else {
                watch.reading?.seenAgain = true
                watch.reading?.remains = seen.remains
                return
            }
            // A version that changes on an open link is a sign of work: the image is being handed
            // over.
            watch.quietSince = now
        }
        watch.reading = Reading(
            version: version,
            isBuild: seen.isBuild,
            remains: seen.remains,
            since: now
        )
    }

    /// The verdict that the latest observation proves, if any.
    private func verdict(on watch: Watch, at now: Moment) -> SettleVerdict? {
        guard watch.unread == 0, let reading = watch.reading, reading.seenAgain,
            now >= restful(reading, in: watch)
        else { return nil }
        return judged(reading)
    }

    private func judged(_ reading: Reading) -> SettleVerdict {
        let version = reading.version
        if isTarget(version, reading.isBuild) { return .confirmed(version) }
        // An image that started and failed before it could be observed has run all the same.
        if targetSeen || reading.remains == .tried { return .rolledBack(to: version) }
        if reading.remains == .nothing { return .refused(runs: version) }
        return version == target ? .otherBuild(version) : .wrongVersion(version)
    }

    private func isTarget(_ version: FirmwareVersion?, _ isBuild: Bool?) -> Bool {
        version == target && isBuild != false
    }

    /// The moment from which a reading that was seen again unchanged is reliable.
    private func restful(_ reading: Reading, in watch: Watch) -> Moment {
        let quiet =
            isTarget(reading.version, reading.isBuild) || reading.isFinal
            ? rules.quiet : max(rules.quiet, rules.wrongVersionGrace)
        return max(
            watch.quietSince.advanced(by: quiet),
            reading.since.advanced(by: rules.confirmGap)
        )
    }

    private func nextLook(after watch: Watch, at now: Moment) -> Moment {
        let poll = now.advanced(by: rules.poll)
        guard let reading = watch.reading else { return poll }
        return min(poll, max(now, restful(reading, in: watch)))
    }

    private mutating func countRestart() {
        if restarts < .max { restarts += 1 }
    }

    private mutating func orVerdict(_ action: Action, at now: Moment) -> Action {
        guard now >= deadline else { return action }
        switch state {
        case .away, .leaving:
            return end(.noReturn)
        case .watching(let watch):
            if watch.ongoing { return end(.stillOngoing(nil)) }
            guard let reading = watch.reading else { return end(.noReturn) }
            let isTarget = isTarget(reading.version, reading.isBuild)
            return end(isTarget ? .stillOngoing(reading.version) : judged(reading))
        case .ended(let verdict):
            return .finished(verdict)
        }
    }

    private mutating func end(_ verdict: SettleVerdict) -> Action {
        state = .ended(verdict)
        return .finished(verdict)
    }
}
