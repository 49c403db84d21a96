import Digests
package import Domain
package import Radio
package import Sessions

/// Brings one module to what it should run, over as many links as it takes.
///
/// Asks `connect` for links; all decisions are the machine's.
package final class SMPUpdater {
    /// Makes a link by the deadline, or gives nil when the module is not heard.
    package typealias Connect = (Moment) async throws(RadioError) -> (any Link)?

    private let time: any Timekeeper
    private let connect: Connect
    private let files: [[[UInt8]]]
    private var machine: SMPUpdate
    private var client: SMPClient?
    /// What does not change as long as the module runs the same firmware.
    private var known: SMPFindings?
    private var best = -1
    package private(set) var bytesSent = 0
    package private(set) var links = 0

    /// An update to `goal`; `files` holds the bytes of its parts' candidates, in its own order.
    ///
    /// `hasRestarted` says that an earlier run had the module restart into the goal.
    package init(
        goal: SMPGoal,
        files: [[[UInt8]]],
        limits: SMPUpdate.Limits = SMPUpdate.Limits(),
        hasRestarted: Bool = false,
        time: any Timekeeper,
        connect: @escaping Connect
    ) {
        precondition(
            files.map(\.count) == goal.parts.map(\.candidates.count),
            "every candidate has its file"
        )
        self.files = files
        self.time = time
        self.connect = connect
        machine = SMPUpdate(goal: goal, limits: limits, hasRestarted: hasRestarted)
    }

    /// Begins on `link`; what concerns the host is thrown.
    package func run(
        on link: any Link,
        unless isStopped: @Sendable () -> Bool = { false },
        isHealthy: () async -> Bool = { true },
        progress: (UploadProgress) async -> Void = { _ in }
    ) async throws(RadioError) -> SMPUpdate.Ending {
        client = SMPClient(link: link, time: time)
        links = 1
        var action = machine.begin()
        while true {
            if isStopped() { machine.stopRequested() }
            guard case .ended(let ending) = action else {
                action = try await perform(action, isStopped, isHealthy, progress)
                continue
            }
            await close()
            return ending
        }
    }

    private func perform(
        _ action: SMPUpdate.Action,
        _ isStopped: @Sendable () -> Bool,
        _ isHealthy: () async -> Bool,
        _ progress: (UploadProgress) async -> Void
    ) async throws(RadioError) -> SMPUpdate.Action {
        switch action {
        case .link(let deadline):
            return try await relink(before: deadline)
        case .relink(let lossBefore, let deadline):
            try await client?.waitForLoss(before: lossBefore)
            known = nil
            return try await relink(before: deadline)
        case .survey:
            guard let client else { return machine.surveyed(.failure(.link(.lost)), at: time.now) }
            let result = try await client.survey(known: known)
            if case .success(let findings) = result { known = findings }
            return machine.surveyed(result, at: time.now)
        case .upload(let part, let candidate, let uploadID, let resumes):
            return try await upload(
                files[part][candidate],
                as: uploadID,
                resumes: resumes,
                isStopped,
                progress
            )
        case .ask(let request, let limit):
            guard let client else { return machine.answered(.link(.lost), at: time.now) }
            // An erase that is asked for again would begin again.
            let tries = limit >= machine.limits.erase ? 1 : 3
            return machine.answered(
                try await client.ask(request, tries: tries, limit: limit),
                at: time.now
            )
        case .checkHealth: return machine.healthChecked(await isHealthy())
        case .ended: return action
        }
    }

    private func upload(
        _ file: [UInt8],
        as image: Int,
        resumes: Bool,
        _ isStopped: @Sendable () -> Bool,
        _ progress: (UploadProgress) async -> Void
    ) async throws(RadioError) -> SMPUpdate.Action {
        let settings = client.flatMap { client in
            SMPSettings(
                parameters: known?.parameters,
                reassembles: known?.reassembles ?? false,
                maximumLength: client.maximumLength
            )
        }
        guard let client, let settings else {
            let length = client?.maximumLength ?? 0
            return machine.uploaded(
                .failed(client == nil ? .link(.lost) : .frameTooShort(length)),
                resumedFrom: 0,
                progress: false,
                at: time.now
            )
        }
        let before = best
        let (ending, resumedFrom) = try await client.upload(
            file,
            image: image,
            sha: resumes ? SHA256.digest(of: file).bytes : nil,
            settings: settings,
            unless: isStopped
        ) { (heard: UploadProgress) async in
            best = max(best, heard.acknowledged)
            await progress(heard)
        }
        let isMore = best > before
        if case .finished = ending { best = -1 }
        return machine.uploaded(
            ending,
            resumedFrom: resumedFrom,
            progress: isMore,
            at: time.now
        )
    }

    private func relink(before deadline: Moment) async throws(RadioError) -> SMPUpdate.Action {
        await close()
        guard let link = try await connect(deadline) else { return machine.notFound() }
        client = SMPClient(link: link, time: time)
        links += 1
        return machine.linked()
    }

    private func close() async {
        bytesSent += client?.bytesSent ?? 0
        await client?.disconnect()
        client = nil
    }
}
