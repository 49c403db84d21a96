package import Base

/// The second of an update's machines: it asks what the module has of the image, sends the rest,
/// and asks the module to run it.
///
/// It exists for one link.
package struct UpdateTransfer: Equatable, Sendable {
    /// Why the module is asked what it has of the image.
    package enum Reason: Equatable, Sendable {
        case toSend
        /// The link was lost while the module was asked to run the image: it may not have received
        /// the request.
        case activationInDoubt
    }

    package enum State: Equatable, Sendable {
        /// The module is asked what it has of the image.
        ///
        /// Next: `transferring`, `activating`, `settling`, `leaving`.
        case probing(Reason, until: Moment)
        /// Ends at `until`, or earlier when there is no progress before `stall`; `moved` is the
        /// time of the last progress, or of the beginning.
        ///
        /// Next: `transferring`, `activating`, `settling`, `leaving`, the end.
        case transferring(part: Int, until: Moment, stall: Moment, moved: Moment)
        /// The module is asked to run the image.
        ///
        /// Next: `settling`, `leaving`, the end.
        case activating(until: Moment)
    }

    package private(set) var state: State

    package init(probing reason: Reason, _ course: UpdateCourse, at now: Moment) {
        state = .probing(reason, until: course.exchange(at: now))
    }

    package var nextDeadline: Moment {
        switch state {
        case .probing(_, let until), .activating(let until): until
        case .transferring(_, let until, let stall, _): min(until, stall)
        }
    }

    var deadlineLabel: String {
        switch state {
        case .probing: "probe"
        case .transferring: "next byte"
        case .activating: "activation"
        }
    }

    /// What is known of the beginning of the part that is being sent.
    func start(_ course: UpdateCourse) -> TransferStart {
        guard case .transferring(let part, _, _, _) = state else { return .fresh }
        if course.effort.beginning == .refused { return .again }
        return course.effort.best > course.goal.size(before: part) ? .begun : .fresh
    }

    // MARK: Probing

    package mutating func probed(
        _ probe: UpdateProbe,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .probing = state else { return nil }
        let sizes = course.goal.sizes
        guard probe.holdings.count == sizes.count else {
            return .fail(.internal, "the probe has another number of parts than the image")
        }
        if course.memory.inBootloader, !course.isKnown, !course.hasActed, !probe.isOurs,
            !course.hasWaitedOut
        {
            // The image in the bootloader is unknown. The bootloader will soon return to its
            // application, which then reports which image it may get.
            course.hasWaitedOut = true
            course.lastCause = UpdateFault(
                .transient,
                "waits in its bootloader for another image; it is left alone until it returns to "
                    + "its application"
            )
            return .leave(for: .inspect, pause: course.limits.bootloaderPatience)
        }
        if probe.hasUnnamed, !course.memory.stage.hasSent {
            return .fail(
                .device,
                "has begun with another image, and cannot be told to drop it; it has to be switched "
                    + "off and on"
            )
        }
        course.act()
        course.memory.inBootloader = course.goal.usesBootloader
        guard let missing = probe.firstMissing else {
            if probe.holdings.allSatisfy({ $0 == .running }) {
                return .settle(.rest(after: course.memory.stage), isLinked: true)
            }
            return activate(&course, at: now)
        }
        // An image that did not start is sent again, with a new deadline.
        course.memory.settleDeadline = nil
        // The bootloader no longer reports a part that it has installed.
        let part = probe.isOurs ? missing : max(missing, min(course.memory.part, sizes.count - 1))
        var there = course.goal.size(before: part)
        switch probe.holdings[part] {
        case .some(let count), .unnamed(let count): there += count
        case .none, .whole, .pending, .running: break
        }
        course.memory.acknowledged = there
        return send(part, &course, at: now)
    }

    // MARK: Sending

    private mutating func send(
        _ part: Int,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        course.memory.stage = .transferring
        course.memory.part = part
        let limits = course.limits
        let least = Duration.seconds(course.goal.total / max(1, limits.slowest))
        let first =
            course.goal.usesBootloader
            ? max(limits.stall, limits.bootloaderOpening ?? .zero) : limits.opening
        state = .transferring(
            part: part,
            until: now.advanced(by: max(.seconds(600), least)),
            stall: now.advanced(by: first),
            moved: now
        )
        return .act(.transfer(part: part, pace: course.effort.pace))
    }

    /// The module has `offset` bytes of the part; restarts the no-progress timer.
    package mutating func progressed(
        to offset: Int,
        resumedFrom resumed: Int,
        _ course: inout UpdateCourse,
        at now: Moment
    ) {
        guard case .transferring(let part, let until, var stall, var moved) = state else { return }
        if resumed > 0, course.effort.beginning == .fresh { course.effort.beginning = .resumed }
        let position = course.goal.size(before: part) + offset
        if position > course.memory.acknowledged {
            stall = now.advanced(by: course.limits.stall)
            moved = now
        }
        course.memory.acknowledged = position
        state = .transferring(part: part, until: until, stall: stall, moved: moved)
    }

    /// The module has taken the whole part; `linkHolds` is true when more can be sent immediately.
    package mutating func transferred(
        linkHolds: Bool,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .transferring(let part, _, _, _) = state else { return nil }
        course.memory.acknowledged = course.goal.size(before: part + 1)
        course.fruitless = 0
        guard part + 1 < course.goal.sizes.count else {
            guard course.goal.usesBootloader else { return activate(&course, at: now) }
            return .settle(.image, isLinked: false)
        }
        course.memory.part = part + 1
        guard linkHolds else { return .leave(for: .receive, pause: .seconds(1)) }
        return send(part + 1, &course, at: now)
    }

    private mutating func activate(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn {
        course.hasActed = true
        course.memory.stage = .activating
        course.memory.acknowledged = course.goal.total
        // The module may restart before its answer arrives, so the deadline is set before the
        // request.
        course.memory.settleDeadline = course.limits.settle
            .deadline(from: course.wallTime(at: now))
        state = .activating(until: course.exchange(at: now))
        return .act(.activate)
    }

    package mutating func activated() -> UpdateTurn? {
        guard case .activating = state else { return nil }
        return .settle(.image, isLinked: false)
    }

    // MARK: Failures

    /// The requested action failed.
    package mutating func failed(
        _ fault: UpdateFault,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        switch state {
        case .probing(.activationInDoubt, _):
            return activationBroke(by: fault, &course)
        case .probing(.toSend, _), .transferring:
            return interrupted(by: fault, &course, at: now)
        case .activating:
            return fault.kind == .linkLost
                ? activationBroke(by: fault, &course) : course.again(.receive, after: fault)
        }
    }

    private mutating func interrupted(
        by fault: UpdateFault,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        if fault.kind == .alreadyThere, case .transferring(let part, _, _, _) = state,
            part + 1 < course.goal.sizes.count
        {
            // The module has this part or a newer one, so it needs the next part.
            return send(part + 1, &course, at: now)
        }
        guard fault.failure == .transient else { return .end(.failed(fault)) }
        if fault.kind == .tooFast { course.effort.pace += 1 }
        let acknowledged = course.memory.acknowledged
        course.fruitless = acknowledged > course.effort.best ? 0 : course.fruitless + 1
        course.effort.best = max(course.effort.best, acknowledged)
        course.memory.interruptions += 1
        course.lastCause = fault
        course.effort.fallsSilent(silence(before: fault, at: now), at: acknowledged)
        guard course.fruitless < course.limits.fruitless else {
            return .fail(
                .transient,
                "the transfer broke \(course.fruitless + 1) times without a byte more: \(fault)"
                    + (course.effort.silenceSentence(after: course.fruitless) ?? "")
            )
        }
        return .leave(for: .receive, pause: .zero)
    }

    /// How long nothing came before the link was lost; nil for every other fault.
    private func silence(before fault: UpdateFault, at now: Moment) -> Duration? {
        guard fault.kind == .linkLost, case .transferring(_, _, _, let moved) = state else {
            return nil
        }
        return moved.duration(to: now)
    }

    /// The link was lost while the module was asked to run the image: only the module knows whether
    /// it received the request, and its restart may take as long as any other.
    private func activationBroke(
        by fault: UpdateFault,
        _ course: inout UpdateCourse
    ) -> UpdateTurn {
        if let end = course.wasted(by: fault) { return end }
        return .settle(
            course.goal.usesBootloader ? .image : .activation,
            isLinked: fault.kind != .linkLost
        )
    }

    /// The deadline or the no-progress timer has passed.
    package mutating func tick(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        guard now >= nextDeadline else { return nil }
        switch state {
        case .transferring(_, _, let stall, _):
            let fault = UpdateFault(
                .transient,
                .tooFast,
                stall <= now
                    ? "no byte more within \(course.limits.stall.brief)"
                    : "the transfer takes too long"
            )
            return failed(fault, &course, at: now)
        case .probing, .activating:
            return failed(UpdateTurn.silence(deadlineLabel), &course, at: now)
        }
    }
}
