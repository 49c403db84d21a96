package import Base

extension Timekeeper {
    /// Waits in short pieces, so that a stop request is noticed.
    package func wait(
        until moment: Moment,
        for purpose: @autoclosure () -> String,
        unless isStopped: () -> Bool
    ) async {
        while now < moment, !isStopped() {
            await sleep(until: min(moment, now.advanced(by: .seconds(1))), for: purpose())
        }
    }
}
