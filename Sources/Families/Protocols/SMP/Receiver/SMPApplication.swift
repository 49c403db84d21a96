package import Base
package import Radio

/// A module's application with SMP on one link: it reports its images and receives new ones.
package final class SMPApplication: ModuleApplication, ImageReceiver {
    /// A module that resets does not end the link: the link lasts until its supervision timeout,
    /// which may be 20 s, and the module may restart a moment after its answer.
    static let lossLimit = Duration.seconds(25)
    /// More than any update needs: a limit for a module that never reaches its goal.
    private static let stepLimit = 32

    private let client: SMPClient
    private let time: any Timekeeper
    /// The family of the module.
    private let family: Family
    private let holder: (any PropertyHolder)?
    private let times: UploadTimes
    /// Buffers, slots and bootloader, which do not change during a link.
    private var known: SMPFindings?

    package init(
        client: SMPClient,
        time: any Timekeeper,
        family: Family,
        properties: (any PropertyHolder)? = nil,
        times: UploadTimes = UploadTimes()
    ) {
        self.times = times
        self.client = client
        holder = properties
        self.family = family
        self.time = time
    }

    private var answerLimit: Duration { times.answer ?? .seconds(10) }
    private var eraseLimit: Duration { times.erase ?? .seconds(40) }

    package var receiver: (any ImageReceiver)? { self }
    package var bytesSent: Int { client.bytesSent }

    package func properties() async throws(ModuleError) -> (any PropertyHolder)? { holder }

    package func disconnect() async { await client.disconnect() }

    // MARK: What it is

    package func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection {
        let list = try await survey().list
        return Inspection(
            firmware: ModuleFirmware(
                family: family,
                type: nil,
                variant: nil,
                version: list.active(order.mainImage)?.version,
                isBuild: try isBuild(order, list)
            ),
            isConfirmed: order.images.allSatisfy { image in
                list.active(image)?.flags.contains(.confirmed) ?? true
            }
        )
    }

    /// Whether all images of the order run, each compared by its hash; nil when the order has none.
    private func isBuild(
        _ order: UpdateOrder,
        _ list: SMPImageList
    ) throws(ModuleError) -> Bool? {
        guard !order.parts.isEmpty else { return nil }
        return try order.goal().standings(in: list).allSatisfy(\.standing.isRunning)
    }

    package func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation {
        while time.now < moment, !isStopped() {
            let next = min(moment, time.now.advanced(by: .seconds(1)))
            do throws(RadioError) {
                if try await client.isLost(before: next) { throw .linkLost }
            } catch { throw .radio(error) }
        }
        let found = try await survey()
        let main = found.list.active(order.mainImage)
        return Observation(
            ongoing: false,
            version: main?.version,
            isBuild: try isBuild(order, found.list),
            isConfirmed: order.images.allSatisfy { image in
                found.list.active(image)?.flags.contains(.confirmed) ?? true
            },
            remains: remains(of: try order.goal(), found)
        )
    }

    /// What is left of the main image when it does not run.
    private func remains(of goal: SMPGoal, _ found: SMPFindings) -> Observation.Remains? {
        guard let (main, standing) = goal.standings(in: found.list).last else { return nil }
        switch standing {
        case .trying, .installed: return nil
        case .absent: return .nothing
        case .staged(let staged):
            if staged.isMarked { return .waiting }
            return found.canRevert && main.canRevert ? .tried : nil
        }
    }

    // MARK: What it has

    package func prepare(_ order: UpdateOrder) async throws(ModuleError) {}

    package func probe(_ order: UpdateOrder) async throws(ModuleError) -> UpdateProbe {
        let list = try await survey().list
        let standings = try order.goal().standings(in: list)
        var isForeign = false
        let holdings = order.parts.map { part -> UpdateProbe.Holding in
            guard let found = standings.first(where: { $0.part.image == part.image }) else {
                return .none
            }
            switch found.standing {
            case .trying, .installed: return .running
            case .staged(let staged):
                return staged.isMarked ? .pending : .whole
            case .absent:
                isForeign = isForeign || !list.others(part.image).isEmpty
                return .none
            }
        }
        return UpdateProbe(holdings: holdings, isForeign: isForeign)
    }

    package func transfer(
        _ part: Int,
        of order: UpdateOrder,
        pace: Int,
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd {
        let goal = try order.goal()
        let (image, size) = (order.parts[part].image, order.parts[part].size)
        var start = start
        var (isSent, isErased) = (false, false)
        for _ in 0..<Self.stepLimit {
            let found = try await survey()
            switch SMPStep.next(goal, found, bringing: image) {
            case .done, .mark: return .finished(linkHolds: true)
            case .upload where isSent:
                // It is complete but not listed: erase it and send it again.
                guard !isErased else { throw .smp(.notListed(image: image)) }
                try await erase(image, found)
                (isSent, isErased, start) = (false, true, .again)
            case .upload(let variant, let uploadID):
                let ending = try await upload(
                    order.parts[part].variants[variant].firmware,
                    as: uploadID,
                    from: start,
                    found,
                    pace,
                    isStopped
                ) { (heard: UploadProgress) async in
                    await progress(heard.clamped(to: size))
                }
                switch ending {
                case .stopped: return .stopped
                case .finished(matches: false):
                    guard !isErased else { throw .smp(.corrupted(image: image)) }
                    try await erase(image, found)
                    (isErased, start) = (true, .again)
                case .finished: isSent = true
                case .failed(.refused(.image(.noFreeSlot))) where found.canRevert:
                    return try await clear()
                case .failed(let error) where found.reassembles && error.mayMeanLongMessages:
                    // Use messages that fit into one write, for the rest of this link.
                    known?.reassembles = false
                case .failed(let error): throw .smp(.upload(error))
                }
            case .restart: return try await clear()
            case .fail(let error): throw .smp(error)
            }
        }
        throw .smp(.notListed(image: image))
    }

    private func erase(_ image: Int, _ found: SMPFindings) async throws(ModuleError) {
        // The answer does not matter: without a digest the next upload begins again.
        _ = try await ask(
            .erase(slot: 2 * image + found.list.freeSlot(of: image)),
            limit: eraseLimit,
            tries: 1
        )
    }

    /// Another image is on trial or waits to be started: a restart ends that.
    private func clear() async throws(ModuleError) -> TransferEnd {
        try await restart()
        throw .smp(.occupied)
    }

    private func upload(
        _ file: [UInt8],
        as image: Int,
        from start: TransferStart,
        _ found: SMPFindings,
        _ pace: Int,
        _ isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> SMPUpload.Ending {
        // A module that repeatedly loses bytes may not reassemble messages after all.
        let fitting = [found.reassembles && pace < 2, found.reassembles].lazy.compactMap {
            SMPSettings(
                parameters: found.parameters,
                reassembles: $0,
                maximumLength: self.client.maximumLength,
                times: self.times
            )
        }
        guard let settings = fitting.first?.slower(by: pace)
        else { throw .smp(.upload(.frameTooShort(client.maximumLength))) }
        do throws(RadioError) {
            return try await client.upload(
                file,
                image: image,
                sha: start == .again ? nil : SHA256.digest(of: file).bytes,
                isBegun: start == .begun,
                settings: settings,
                unless: isStopped,
                progress: progress
            ).ending
        } catch { throw .radio(error) }
    }

    // MARK: What it does

    package func activate(_ order: UpdateOrder) async throws(ModuleError) {
        let goal = try order.goal()
        for _ in 0...2 * goal.parts.count {
            let found = try await survey()
            switch SMPStep.next(goal, found) {
            case .mark(let hash, let isConfirmed):
                guard try await mark(hash, isConfirmed: isConfirmed, found) else {
                    return try await restartIntoHighest(goal, found)
                }
            case .restart: return try await restart(isCertain: true)
            case .fail(let error): throw .smp(error)
            case .upload: throw .smp(.notListed(image: order.mainImage))
            case .done: return
            }
        }
        throw .smp(.noRestart)
    }

    package func confirm(_ order: UpdateOrder) async throws(ModuleError) {
        let goal = try order.goal()
        for _ in 0...2 * goal.parts.count {
            let found = try await survey()
            let standings = goal.standings(in: found.list)
            // The trial ended by a restart that we did not see.
            if let gone = standings.first(where: { !$0.standing.isRunning }) {
                throw .smp(.reverted(image: gone.part.image))
            }
            guard let (part, _) = standings.first(where: { $0.standing == .trying }) else { return }
            let active = found.list.active(part.image)
            let hash =
                part.image == 0
                ? nil : active.flatMap { $0.hash ?? part.candidate(for: $0)?.installedHash }
            let ending = try await ask(
                .setState(hash: hash, isConfirmed: true),
                limit: answerLimit,
                tries: 3
            )
            if case .refused(let fault) = ending {
                // When nothing reverts, an unconfirmed image stays as well.
                if fault.isNotSupported, !found.canRevert || found.bootloader?.mode == nil {
                    return
                }
                throw .smp(.notConfirmed(fault))
            }
        }
        throw .smp(.notConfirmed(nil))
    }

    package func rollBack(_ order: UpdateOrder) async throws(ModuleError) {
        guard try await survey().canRevert else { throw .smp(.unhealthy) }
        try await restart()
    }

    /// Marks an image; returns false when the device supports no marks and did not report its
    /// bootloader's mode.
    private func mark(
        _ hash: [UInt8],
        isConfirmed: Bool,
        _ found: SMPFindings
    ) async throws(ModuleError) -> Bool {
        let ending = try await ask(
            .setState(hash: hash, isConfirmed: isConfirmed),
            limit: answerLimit,
            tries: 3
        )
        let what = "marking the image"
        switch ending {
        case .answered: return true
        case .refused(let fault) where fault.isNotSupported && found.bootloader?.mode == nil:
            return false
        case .refused(let fault): throw .smp(.ask(.refused(fault, what)))
        case .unanswered: throw .smp(.ask(.noAnswer(what)))
        case .malformed(let error): throw .smp(.ask(.malformed(error.description, what)))
        case .link(let failure): throw .smp(.ask(.link(failure)))
        }
    }

    /// Restarts a module without marks: its bootloader starts the highest version, as bootloaders
    /// do that load into RAM or run images in place.
    private func restartIntoHighest(
        _ goal: SMPGoal,
        _ found: SMPFindings
    ) async throws(ModuleError) {
        var unmarked = found
        unmarked.knowsMarks = false
        if case .fail(let error) = SMPStep.next(goal, unmarked) { throw .smp(error) }
        try await restart(isCertain: true)
    }

    /// Restarts the module.
    ///
    /// Without `isCertain`, a link that ends with the request counts as a restart.
    private func restart(isCertain: Bool = false) async throws(ModuleError) {
        let ending = try await ask(
            .reset(isForced: false),
            limit: answerLimit,
            tries: 1,
            mayLoseLink: !isCertain
        )
        if case .refused(let fault) = ending { throw .smp(.ask(.refused(fault, "restarting"))) }
        do throws(RadioError) {
            let limit = time.now.advanced(by: Self.lossLimit)
            if try await client.isLost(before: limit) { return }
        } catch { throw .radio(error) }
        throw .smp(.noRestart)
    }

    // MARK: Questions

    private func survey() async throws(ModuleError) -> SMPFindings {
        let result: Result<SMPFindings, SMPAskError>
        do throws(RadioError) {
            result = try await client.survey(known: known)
        } catch { throw .radio(error) }
        switch result {
        case .success(let findings):
            known = findings
            return findings
        case .failure(.link(.missing(let name))): throw .smp(.ask(.link(.missing(name))))
        case .failure(let error): throw .smp(.ask(error))
        }
    }

    private func ask(
        _ request: SMPRequest,
        limit: Duration,
        tries: Int,
        mayLoseLink: Bool = false
    ) async throws(ModuleError) -> SMPExchange.Ending {
        let ending: SMPExchange.Ending
        do throws(RadioError) {
            ending = try await client.ask(request, tries: tries, limit: limit)
        } catch { throw .radio(error) }
        if case .link(let failure) = ending, !mayLoseLink { throw .smp(.ask(.link(failure))) }
        return ending
    }
}

extension UpdateOrder {
    /// The numbers of its images, in ascending order.
    var images: [Int] { Set(parts.map(\.image)).sorted() }

    var mainImage: Int { images.first ?? 0 }

    /// The goal of the order: the images that the module should run.
    func goal() throws(ModuleError) -> SMPGoal {
        var list: [SMPGoal.Part] = []
        for part in parts {
            let candidates = try part.variants.map { (variant) throws(ModuleError) in
                let image: MCUbootImage
                do throws(MCUbootError) {
                    image = try MCUbootImage(variant.firmware)
                } catch { throw ModuleError.value("image \(part.image) of the order: \(error)") }
                return SMPGoal.Candidate(
                    slot: variant.slot,
                    version: image.version,
                    hash: image.hash,
                    installedHash: image.installedHash,
                    size: variant.firmware.count,
                    dependencies: image.dependencies
                )
            }
            // Only the main processor's bootloader keeps an old image to return to.
            list.append(
                SMPGoal.Part(
                    image: part.image,
                    candidates: candidates,
                    canRevert: part.image == 0
                )
            )
        }
        guard let goal = SMPGoal(parts: list) else {
            throw .value("the order has no image, or two for one place")
        }
        return goal
    }
}
