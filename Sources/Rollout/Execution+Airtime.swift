import Base
import Radio
import Store

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
        if case .host(let fault) = halt, fault.isHostFault { depot.air.failed(fault) }
        return await rested(.seconds(5), need, halt.hostPurpose)
    }

    /// What the next turn is for, by the state of the module.
    private var need: AirtimeNeed {
        guard let debt else { return .next }
        return debt.inBootloader ? .bootloader : debt.settleDeadline == nil ? .next : .settling
    }

    /// Ends the turn where no link is open when the adapter has too many; returns how long the next
    /// one took.
    func yieldLink() async throws(Halt) -> Duration {
        guard depot.air.isExcess else { return .zero }
        let asked = time.now
        try await giveWay(need)
        return asked.duration(to: time.now)
    }

    /// Waits until this turn may make a link; returns how long that took.
    func takeLink() async -> Duration {
        let asked = time.now
        await depot.air.takeLink()
        return asked.duration(to: time.now)
    }

    /// The link was lost or not made: this is not the vehicle's fault when the adapter may have too
    /// many.
    func losesLink() -> Bool {
        hasShownLoss = true
        guard depot.air.shows(.lost) else { return false }
        isCrowded = true
        return true
    }

    /// Rests until another program has ended its link, or the adapter has a free one; false when
    /// the run is to end.
    func rested(after refusal: RadioError) async -> Bool {
        if refusal == .noFreeLink { isCrowded = depot.air.shows(.refused) }
        depot.events.emit(
            .stateChanged(
                vehicle,
                record.state,
                adapter: depot.central.adapter,
                detail: refusal.description
            )
        )
        guard await rested(.seconds(5), need, "another link to end") else { return false }
        // The turn may be that of a link which the adapter still ends.
        if refusal == .noFreeLink { await time.sleep(for: .seconds(2), "another link to end") }
        return true
    }

    /// Lets others have a turn; returns immediately when nobody waits.
    func giveWay(_ need: AirtimeNeed) async throws(Halt) {
        try await rest(until: time.now, need, for: "the adapter")
    }
}
