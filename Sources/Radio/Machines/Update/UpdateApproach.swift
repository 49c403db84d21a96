package import Base

/// The first of an update's machines: it gets a link, and inspects the module's application before
/// an image is sent.
package struct UpdateApproach: Equatable, Sendable {
    /// The purpose of a link.
    package enum Errand: Equatable, Sendable {
        /// To read what the module runs and has.
        case inspect
        /// To send the image, in the role that receives it.
        case receive
        /// To make the module go back, for this reason.
        case rollBack(because: String)
    }

    package enum State: Equatable, Sendable {
        /// No link; the program listens for the module.
        ///
        /// Next: `connecting`, `pausing`, the end.
        case seeking(Search, until: Moment)
        /// Next: `inspecting`, `probing` and `rollingBack` in the other machines, `leaving`.
        case connecting(ModuleRole, until: Moment)
        /// The application reports its versions.
        ///
        /// Next: `preparing`, `settling`, the end.
        case inspecting(until: Moment)
        /// The module prepares for the image.
        ///
        /// Next: `leaving`, `probing`, the end.
        case preparing(until: Moment)
        /// Our side closes the link.
        ///
        /// Next: `pausing`, `seeking`.
        case leaving(pause: Duration, until: Moment)
        /// Between two links. Next: `seeking`.
        case pausing(until: Moment)
    }

    /// Consecutive searches.
    package struct Search: Equatable, Sendable {
        let began: Moment
        var missed = 0
    }

    /// How often the application may be heard where the bootloader is expected.
    private static let patience = 3

    package let errand: Errand
    package private(set) var state: State
    /// The number of sightings of the application where the bootloader is expected.
    private var lingering = 0

    private init(_ errand: Errand, _ state: State) {
        self.errand = errand
        self.state = state
    }

    /// Begins without a link.
    package init(seekingFor errand: Errand, _ course: UpdateCourse, at now: Moment) {
        self.init(errand, Self.seeking(for: errand, course, at: now))
    }

    /// Begins on a link that is left because another program or another errand needs a new one.
    init(leavingFor errand: Errand, pause: Duration, _ course: UpdateCourse, at now: Moment) {
        self.init(errand, .leaving(pause: pause, until: course.exchange(at: now)))
    }

    /// Begins with a sighting of the module.
    init(
        connectingFor errand: Errand,
        _ role: ModuleRole,
        _ course: UpdateCourse,
        at now: Moment
    ) {
        self.init(errand, .connecting(role, until: now.advanced(by: course.limits.connect)))
    }

    package var nextDeadline: Moment {
        switch state {
        case .seeking(_, let until), .connecting(_, let until), .inspecting(let until),
            .preparing(let until), .leaving(_, let until), .pausing(let until):
            until
        }
    }

    var deadlineLabel: String {
        switch state {
        case .seeking: errand == .receive ? "bootloader to appear" : "search"
        case .connecting: "connect"
        case .inspecting: "inspect"
        case .preparing: "start of its bootloader"
        case .leaving, .pausing: "next link"
        }
    }

    // MARK: Without a link

    private static func seeking(
        for errand: Errand,
        _ course: UpdateCourse,
        at now: Moment
    ) -> State {
        let changesRole = errand == .receive && course.goal.usesBootloader
        let limit = changesRole ? course.limits.roleChange : course.limits.seek
        return .seeking(Search(began: now), until: now.advanced(by: limit))
    }

    private mutating func seek(_ course: UpdateCourse, at now: Moment) -> UpdateTurn {
        state = Self.seeking(for: errand, course, at: now)
        return .act(.seek(from: now))
    }

    private mutating func pause(_ pause: Duration, at now: Moment) -> UpdateTurn {
        let until = now.advanced(by: pause)
        state = .pausing(until: until)
        return .act(.pause(until: until))
    }

    package mutating func sighted(
        _ role: ModuleRole,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .seeking = state else { return nil }
        if role == .application, errand != .receive { course.memory.inBootloader = false }
        switch (errand, role) {
        case (.receive, .application) where course.goal.usesBootloader:
            // The application may still be heard just before it restarts.
            lingering += 1
            guard lingering <= Self.patience else {
                course.memory.inBootloader = false
                return .fail(.transient, "the module runs its application, not its bootloader")
            }
            return pause(.seconds(2), at: now)
        case (.rollBack, .bootloader):
            return course.backInBootloader()
        case (.inspect, _), (.receive, _), (.rollBack, .application):
            state = .connecting(role, until: now.advanced(by: course.limits.connect))
            return .act(.connect)
        }
    }

    /// The search ended without a sighting.
    package mutating func missed(_ course: UpdateCourse, at now: Moment) -> UpdateTurn? {
        guard case .seeking(var search, _) = state else { return nil }
        if course.hasWaitedOut, errand == .inspect, course.memory.inBootloader {
            // The module did not return to its application, and its bootloader is not heard either.
            return .fail(.unreachable, "its bootloader is no longer heard")
        }
        search.missed += 1
        if search.missed < course.limits.searches {
            state = .seeking(search, until: now.advanced(by: course.limits.seek))
            return .act(.seek(from: now))
        }
        let time = search.began.duration(to: now)
        return .fail(
            .unreachable,
            errand == .receive && course.goal.usesBootloader
                ? "its bootloader was not heard within \(time.brief)"
                : "not heard within \(time.brief)"
        )
    }

    // MARK: On a link

    package mutating func linked(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        guard case .connecting(let role, _) = state else { return nil }
        return arrive(role, &course, at: now)
    }

    /// Begins on an open link to the module in this role.
    package static func begin(
        linkedTo role: ModuleRole,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> (UpdateApproach, UpdateTurn) {
        var machine = UpdateApproach(connectingFor: .inspect, role, course, at: now)
        let turn = machine.arrive(role, &course, at: now)
        return (machine, turn)
    }

    private mutating func arrive(
        _ role: ModuleRole,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        if role == .bootloader {
            course.memory.inBootloader = true
            return .probe(.toSend)
        }
        switch errand {
        case .inspect:
            state = .inspecting(until: course.exchange(at: now))
            return .act(.inspect)
        case .receive: return .probe(.toSend)
        case .rollBack(let sentence): return .rollBack(because: sentence)
        }
    }

    package mutating func inspected(
        _ found: Inspection,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .inspecting = state else { return nil }
        course.memory.inBootloader = false
        course.isOnTrial = !found.isConfirmed
        let decision = UpdateDecision.decide(
            current: found.firmware,
            image: course.goal.image,
            policy: course.goal.policy
        )
        switch course.memory.stage {
        case .settling, .checking, .confirming, .rollingBack:
            if decision == .alreadyCurrent, found.isConfirmed, course.memory.stage == .confirming,
                let version = found.firmware.version
            {
                return .end(.settled(.confirmed(version)))
            }
            return .settle(.rest(after: course.memory.stage), isLinked: true)
        case .activating, .transferring, .preparing:
            // The bootloader has started the image on its own: only the proof is missing.
            if decision == .alreadyCurrent { return .settle(.image, isLinked: true) }
            if course.memory.stage == .activating, !course.goal.usesBootloader {
                return .probe(.toSend)
            }
        case .none:
            break
        }
        switch decision {
        case .rejected(let reason):
            return .end(.rejected(reason))
        case .passed(let version):
            return .end(.passed(version))
        case .alreadyCurrent:
            guard found.isConfirmed, !found.isOngoing else {
                return .settle(.image, isLinked: true)
            }
            return .end(.alreadyCurrent(found.firmware.version))
        case .update:
            return prepare(&course, at: now)
        }
    }

    /// From here on the module is changed.
    private mutating func prepare(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn {
        course.act()
        // An application shows only later what it has, and then it matters whether it is ours.
        if course.goal.usesBootloader || course.memory.stage != .transferring {
            course.memory.stage = .preparing
        }
        course.memory.inBootloader = course.goal.usesBootloader
        state = .preparing(until: course.exchange(at: now))
        return .act(.prepare)
    }

    package mutating func prepared(_ course: inout UpdateCourse) -> UpdateTurn? {
        guard case .preparing = state else { return nil }
        guard course.goal.usesBootloader else { return .probe(.toSend) }
        course.memory.stage = .transferring
        return .leave(for: .receive, pause: .zero)
    }

    package mutating func disconnected(_ course: UpdateCourse, at now: Moment) -> UpdateTurn? {
        guard case .leaving(let length, _) = state else { return nil }
        return length > .zero ? pause(length, at: now) : seek(course, at: now)
    }

    /// The requested action failed.
    package mutating func failed(
        _ fault: UpdateFault,
        _ course: inout UpdateCourse
    ) -> UpdateTurn? {
        switch state {
        case .seeking, .inspecting:
            return .end(.failed(fault))
        case .connecting:
            return errand == .inspect ? .end(.failed(fault)) : course.again(errand, after: fault)
        case .preparing:
            switch fault.kind {
            case .linkLost, .unanswered: break
            // The module continues with its application, or was never asked to leave it.
            case .plain, .tooFast, .alreadyThere: course.memory.inBootloader = false
            }
            return .end(.failed(fault))
        case .leaving, .pausing:
            return nil
        }
    }

    /// The deadline has passed.
    package mutating func tick(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        guard now >= nextDeadline else { return nil }
        switch state {
        case .seeking: return missed(course, at: now)
        case .pausing, .leaving: return seek(course, at: now)
        case .connecting, .inspecting, .preparing:
            return failed(UpdateTurn.silence(deadlineLabel), &course)
        }
    }
}
