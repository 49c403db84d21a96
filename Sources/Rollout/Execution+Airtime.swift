import Base
import Radio

/// Waiting without holding an adapter.
extension Execution {
    /// The longest sleep between two checks for a stop request.
    private static let patience = Duration.seconds(2)

    /// Gives the adapter back until `moment` and then waits for a turn; no link may be open.
    func rest(
        until moment: Moment,
        _ need: AirtimeNeed,
        for purpose: @autoclosure () -> String
    ) async throws(Halt) {
        depot.air.giveBack()
        while time.now < moment && !depot.stop.isRequested {
            await time.sleep(
                until: min(moment, time.now.advanced(by: Self.patience)),
                for: purpose()
            )
            if Task.isCancelled { break }
        }
        await depot.air.take(for: need)
        if depot.stop.isRequested { throw .stopped }
    }

    /// The same while an update waits for its module.
    func rest(
        until moment: Moment,
        _ memory: UpdateMemory,
        for purpose: String
    ) async throws(Halt) {
        let need: AirtimeNeed =
            if memory.inBootloader {
                .bootloader
            } else if memory.settleDeadline == nil { .next } else { .settling }
        try await rest(until: moment, need, for: purpose)
    }

    /// Rests between two attempts; false when the run was stopped meanwhile.
    func rested(
        _ pause: Duration,
        _ need: AirtimeNeed,
        _ purpose: @autoclosure () -> String
    ) async -> Bool {
        do throws(Halt) {
            try await rest(until: time.now.advanced(by: pause), need, for: purpose())
            return true
        } catch { return false }
    }

    /// Rests while this host is not available; false when the run was stopped meanwhile.
    func rested(after halt: Halt) async -> Bool {
        if case .host(let fault) = halt { depot.air.failed(fault) }
        return await rested(.seconds(5), .next, halt.hostPurpose)
    }

    /// Lets others have a turn; returns immediately when nobody waits.
    func giveWay(_ need: AirtimeNeed) async throws(Halt) {
        try await rest(until: time.now, need, for: "the adapter")
    }
}
