package import Base

/// The health check, confirming the image, and going back.
extension UpdateProof {
    mutating func beginCheck(
        _ begun: Check?,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        let check = begun ?? Check(deadline: now.advanced(by: course.limits.health))
        course.memory.stage = .checking
        state = .checking(check, next: check.deadline)
        return .act(.check)
    }

    package mutating func checked(
        _ health: UpdateSession.Health,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .checking(var check, _) = state else { return nil }
        switch health {
        case .well:
            if course.isOnTrial { return beginConfirming(&course, at: now) }
            return .end(.settled(.confirmed(course.goal.image.version)))
        case .notYet(let sentence):
            guard now < check.deadline else { return unwell(sentence, &course, at: now) }
            check.complaint = sentence
            let next = min(check.deadline, now.advanced(by: course.limits.settle.poll))
            state = .checking(check, next: next)
            return .act(.pause(until: next))
        case .failure(let sentence):
            return unwell(check.complaint ?? sentence, &course, at: now)
        }
    }

    private mutating func unwell(
        _ sentence: String,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        guard course.isOnTrial else {
            return .end(
                .unhealthy(sentence, runs: course.goal.image.version, revertible: false)
            )
        }
        course.memory.stage = .rollingBack
        return goBack(because: sentence, course, at: now)
    }

    private mutating func goBack(
        because sentence: String,
        _ course: UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        state = .rollingBack(because: sentence, until: course.exchange(at: now))
        return .act(.rollBack)
    }

    package mutating func rolledBack(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        guard case .rollingBack(let sentence, _) = state else { return nil }
        course.memory.settleDeadline = course.limits.settle
            .deadline(from: course.wallTime(at: now))
        return settle(.wayBack(because: sentence), isLinked: false, &course, at: now)
    }

    mutating func wentBack(
        _ verdict: SettleVerdict,
        _ sentence: String,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        switch verdict {
        case .wrongVersion(let version), .otherBuild(let version), .refused(let version),
            .rolledBack(let version):
            return .end(.unhealthy(sentence, runs: version, revertible: true))
        case .confirmed where course.isOnTrial && course.fruitless < course.limits.fruitless:
            // The module did not receive the request to go back.
            course.fruitless += 1
            return goBack(because: sentence, course, at: now)
        case .confirmed(let version):
            return .end(.unhealthy(sentence, runs: version, revertible: false))
        case .noReturn, .stillOngoing:
            return .end(.settled(verdict))
        }
    }

    // MARK: Confirming

    mutating func beginConfirming(
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        course.hasActed = true
        course.memory.stage = .confirming
        state = .confirming(until: course.exchange(at: now))
        return .act(.confirm)
    }

    /// The module reports that it keeps the image.
    package mutating func confirmed(_ course: inout UpdateCourse) -> UpdateTurn? {
        guard case .confirming = state else { return nil }
        course.isOnTrial = false
        return .end(.settled(.confirmed(course.goal.image.version)))
    }
}
