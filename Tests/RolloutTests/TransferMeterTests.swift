import Base
import Radio
import Show
import Store
import Testing

@testable import Rollout

@Suite struct TransferMeterTests {
    @Test func `progress is shown each second and written to the journal every five`() {
        var meter = TransferMeter(total: 100_000, before: 0)
        var shown: [Int] = []
        var kept: [Int] = []
        for tenth in 0..<120 {
            let now = Moment(nanoseconds: Int64(tenth) * 100_000_000)
            let heard = UploadProgress(acknowledged: tenth * 500, resumedFrom: 0)
            guard meter.progress(heard, at: now) != nil else { continue }
            shown.append(tenth)
            if meter.isDueInJournal(at: now) { kept.append(tenth) }
        }
        #expect(shown == Array(stride(from: 0, to: 120, by: 10)))
        #expect(kept == [0, 50, 100])
    }

    @Test func `the end of a transfer is shown at once`() {
        var meter = TransferMeter(total: 1_000, before: 200)
        let first = UploadProgress(acknowledged: 100, resumedFrom: 0)
        let last = UploadProgress(acknowledged: 800, resumedFrom: 0)
        #expect(meter.progress(first, at: Moment(nanoseconds: 1)) != nil)
        #expect(meter.progress(first, at: Moment(nanoseconds: 2)) == nil)
        #expect(meter.progress(last, at: Moment(nanoseconds: 3))?.acknowledged.bytes == 1_000)
    }
}
