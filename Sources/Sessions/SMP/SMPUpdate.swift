package import Domain
package import Wire

/// One update over SMP, from the first look at the module to the confirmed image.
///
/// It goes in a circle: look at what the module has, do the one thing that is next, look again. So
/// it can begin anywhere, after a lost link or the end of our process too. The one fact that the
/// module cannot tell is whether it was started into the new image before: that is handed in.
package struct SMPUpdate: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `surveying`.
        case idle
        /// Next: any of the others.
        case surveying
        /// Next: `surveying`, `linking`, `erasing`.
        case uploading(part: Int)
        /// Next: `surveying`, `linking`.
        case erasing(image: Int)
        /// Next: `surveying`, `linking`.
        case marking
        /// Next: `returning`.
        case restarting
        /// It restarts and is sought. Next: `surveying`, `ended`.
        case returning
        /// The link broke and is made again. Next: `surveying`, `ended`.
        case linking
        /// Next: `surveying`.
        case checkingHealth
        /// Next: `surveying`, `linking`.
        case confirming
        case ended(Ending)
    }

    package enum Ending: Equatable, Sendable {
        /// It runs for good.
        case installed
        /// It did before anything was done.
        case alreadyCurrent
        /// As asked, before the restart; nothing that was sent is lost.
        case stopped
        case failed(SMPUpdateError)
    }

    package enum Action: Equatable, Sendable {
        /// Make a link, seeking the module until then, and tell `linked` or `notFound`.
        case link(before: Moment)
        /// Wait until the link is lost, drop it at `lossBefore`, then as `link`.
        case relink(lossBefore: Moment, before: Moment)
        /// Ask what the module has, and tell `surveyed`.
        case survey
        /// Send a file, and tell `uploaded`; without resuming the module begins anew.
        case upload(part: Int, candidate: Int, uploadID: Int, resumes: Bool)
        /// Ask this, and tell `answered`.
        case ask(SMPRequest, limit: Duration)
        /// Find out whether the new image does its work, and tell `healthChecked`.
        case checkHealth
        case ended(Ending)
    }

    /// Times of an update.
    package struct Limits: Equatable, Sendable {
        /// For the module to be heard again after a lost link.
        package var link = Duration.seconds(60)
        /// For the module to be heard again after its restart: images are swapped meanwhile.
        package var comeback = Duration.seconds(180)
        /// For the link to break after the module was told to restart.
        package var loss = Duration.seconds(5)
        package var erase = Duration.seconds(40)
        package var answer = Duration.seconds(10)
        /// Links in a row on which nothing gets on.
        package var fruitless = 5

        package init() {}
    }

    package let goal: SMPGoal
    package let limits: Limits
    package private(set) var state = State.idle
    private var memory = SMPMemory()
    private var findings: SMPFindings?
    private var fruitless = 0
    private var isStopping = false

    /// Whether the module was told, now or before, to restart into the new images.
    package var hasRestarted: Bool { memory.hasRestarted }

    /// An update; `hasRestarted` says that an earlier run had the module restart into it.
    package init(goal: SMPGoal, limits: Limits = Limits(), hasRestarted: Bool = false) {
        self.goal = goal
        self.limits = limits
        memory.hasRestarted = hasRestarted
    }

    // MARK: Events

    /// The module is linked.
    package mutating func begin() -> Action {
        guard state == .idle else { return .survey }
        return survey()
    }

    package mutating func surveyed(
        _ result: Result<SMPFindings, SMPAskError>,
        at now: Moment
    ) -> Action {
        switch result {
        case .failure(.link(let failure)):
            return broken(failure.description, failure, at: now)
        case .failure(.noAnswer(let what)):
            return broken(SMPAskError.noAnswer(what).description, .timedOut, at: now)
        case .failure(let error): return end(.failed(.ask(error)))
        case .success(let found):
            findings = found
            return take(SMPStep.next(goal, found, memory), at: now)
        }
    }

    /// `progress` is true when the module acknowledged more bytes than on any link before.
    package mutating func uploaded(
        _ ending: SMPUpload.Ending,
        resumedFrom: Int,
        progress: Bool,
        at now: Moment
    ) -> Action {
        guard case .uploading(let part) = state else { return survey() }
        let image = goal.parts[part].image
        if progress { fruitless = 0 }
        if resumedFrom > 0 { memory.resumed.insert(image) }
        switch ending {
        case .stopped: return end(.stopped)
        case .finished(matches: false):
            guard !memory.erased.contains(image) else {
                return end(.failed(.corrupted(image: image)))
            }
            return erase(image, slot: slot(of: image), at: now)
        case .finished:
            memory.uploaded.insert(image)
            return survey()
        case .failed(.refused(.image(.noFreeSlot))) where findings?.canRevert == true:
            guard memory.clearings < 3 else { return end(.failed(.occupied)) }
            return restart(.clear)
        case .failed(.link(let failure)): return broken(failure.description, failure, at: now)
        case .failed(let error):
            guard error.failureClass == .transient else { return end(.failed(.upload(error))) }
            // Half a message may be stuck in the module: only a new link is rid of it.
            return broken(error.description, nil, at: now)
        }
    }

    package mutating func answered(_ ending: SMPExchange.Ending, at now: Moment) -> Action {
        switch state {
        case .erasing(let image):
            if case .link(let failure) = ending {
                return broken(failure.description, failure, at: now)
            }
            // Whatever it says: without a digest the upload that follows begins anew.
            memory.erased.insert(image)
            memory.anew.insert(image)
            memory.uploaded.remove(image)
            memory.hasRestarted = false
            return survey()
        case .marking: return done(ending, "marking the image", at: now)
        case .confirming:
            if case .refused(let fault) = ending, fault.isNotSupported {
                memory.confirmsNothing = true
                guard findings?.canRevert == true else { return survey() }
            }
            return done(ending, "confirming the image", at: now)
        case .restarting:
            // The answer to this one may be lost with the link.
            if case .refused(let fault) = ending {
                return end(.failed(.ask(.refused(fault, "restarting"))))
            }
            state = .returning
            return .relink(
                lossBefore: now.advanced(by: limits.loss),
                before: now.advanced(by: limits.comeback)
            )
        case .idle, .surveying, .uploading, .returning, .linking, .checkingHealth:
            return survey()
        case .ended(let ending): return .ended(ending)
        }
    }

    package mutating func healthChecked(_ isHealthy: Bool) -> Action {
        memory.isHealthy = isHealthy
        return survey()
    }

    package mutating func linked() -> Action { survey() }

    package mutating func notFound() -> Action {
        let isReturning = state == .returning
        return end(.failed(isReturning ? .noReturn : .ask(.link(.timedOut))))
    }

    /// Ends the update where nothing is lost by it: before the restart, not after.
    package mutating func stopRequested() { isStopping = true }

    // MARK: Moving on

    private mutating func take(_ step: SMPStep, at now: Moment) -> Action {
        if isStopping, !memory.hasRestarted, step.canWait { return end(.stopped) }
        switch step {
        case .done:
            return end(memory.hasActed ? .installed : .alreadyCurrent)
        case .fail(let error): return end(.failed(error))
        case .erase(let image, let slot): return erase(image, slot: slot, at: now)
        case .upload(let part, let candidate, let uploadID):
            memory.hasActed = true
            state = .uploading(part: part)
            let resumes = !memory.anew.contains(goal.parts[part].image)
            return .upload(
                part: part,
                candidate: candidate,
                uploadID: uploadID,
                resumes: resumes
            )
        case .mark(let hash, let isConfirmed):
            memory.hasActed = true
            state = .marking
            return .ask(.setState(hash: hash, isConfirmed: isConfirmed), limit: limits.answer)
        case .restart(let purpose): return restart(purpose)
        case .checkHealth:
            memory.hasActed = true
            state = .checkingHealth
            return .checkHealth
        case .confirm(let hash):
            memory.confirmations += 1
            state = .confirming
            return .ask(.setState(hash: hash, isConfirmed: true), limit: limits.answer)
        }
    }

    private mutating func survey() -> Action {
        if case .ended(let ending) = state { return .ended(ending) }
        state = .surveying
        return .survey
    }

    private mutating func erase(_ image: Int, slot: Int, at now: Moment) -> Action {
        memory.hasActed = true
        state = .erasing(image: image)
        return .ask(.erase(slot: slot), limit: limits.erase)
    }

    private func slot(of image: Int) -> Int {
        2 * image + (findings?.list.active(image).map { 1 - min($0.slot, 1) } ?? 1)
    }

    private mutating func restart(_ purpose: SMPStep.Purpose) -> Action {
        memory.hasActed = true
        switch purpose {
        case .install:
            memory.hasRestarted = true
            memory.restarts += 1
        case .clear: memory.clearings += 1
        case .takeBack: memory.restarts += 1
        }
        state = .restarting
        return .ask(.reset(isForced: false), limit: limits.answer)
    }

    private mutating func done(
        _ ending: SMPExchange.Ending,
        _ what: String,
        at now: Moment
    ) -> Action {
        switch ending {
        case .answered: return survey()
        case .refused(let fault): return end(.failed(.ask(.refused(fault, what))))
        case .malformed(let error):
            return end(.failed(.ask(.malformed(error.description, what))))
        case .unanswered:
            return broken(SMPAskError.noAnswer(what).description, .timedOut, at: now)
        case .link(let failure): return broken(failure.description, failure, at: now)
        }
    }

    /// The link is of no use any more: another one, unless that has been tried often enough.
    private mutating func broken(
        _ cause: String,
        _ failure: LinkFailure?,
        at now: Moment
    ) -> Action {
        if let failure, failure.failureClass != .transient {
            return end(.failed(.ask(.link(failure))))
        }
        fruitless += 1
        guard fruitless < limits.fruitless else {
            return end(.failed(.interrupted(fruitless, cause)))
        }
        if isStopping, !memory.hasRestarted { return end(.stopped) }
        state = .linking
        return .link(before: now.advanced(by: limits.link))
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .ended(ending)
        return .ended(ending)
    }
}

extension SMPStep {
    /// Nothing is under way that would be left in the middle.
    fileprivate var canWait: Bool {
        switch self {
        case .erase, .upload, .mark, .restart: true
        case .checkHealth, .confirm, .done, .fail: false
        }
    }
}
