import Base
import Radio

/// Sends one signed piece of firmware to a bootloader over one link.
final class DFUUploader {
    enum End: Sendable, Equatable {
        /// The module has the whole image, or had it when the link ended at the last answer.
        case finished
        /// Stopped on request, at a safe point.
        case stopped(at: Int)
    }

    private let link: any Link
    private let control: DFUControlPoint
    private let time: any Timekeeper
    private let times: UploadTimes
    /// Image bytes that were passed to the radio on this link, repeats included.
    private(set) var bytesSent = 0

    init(link: any Link, control: DFUControlPoint, time: any Timekeeper, times: UploadTimes) {
        self.link = link
        self.control = control
        self.time = time
        self.times = times
    }

    /// Sends the part of the image that the module lacks; `progress` is called whenever it has
    /// acknowledged more bytes.
    func upload(
        _ part: FirmwarePart,
        pace: Int,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async -> Result<End, ModuleError> {
        guard
            let settings = UploadSettings(
                maximumLength: link.maximumLength,
                pace: pace,
                times: times
            )
        else {
            return .failure(.radio(.tooLong(limit: link.maximumLength)))
        }
        var machine = SecureDFUUpload(part, settings: settings)
        defer { bytesSent = machine.sent }
        var known = 0
        var asked = false
        var action = machine.begin(at: time.now)
        while true {
            if !asked, isStopped() {
                asked = true
                // The current object goes on: the machine ends before the next one.
                if case .ended(let ending) = machine.stopRequested() { action = .ended(ending) }
            }
            let deadline = machine.deadline ?? time.now
            let done: Result<[UInt8]?, RadioError>
            switch action {
            case .write(let request):
                done = await control.write(request, before: deadline).map { nil }
                if case .success = done { action = .wait }
            case .wait:
                done = await control.next(before: deadline).map { $0 }
                if case .success(let bytes?) = done {
                    action = machine.response(bytes, at: time.now)
                }
            case .send(let range, let what):
                let bytes = what == .initPacket ? part.initPacket : part.firmware
                let length = machine.settings.packetLength
                done = await send(bytes[range], in: length, before: deadline).map { nil }
                if case .success = done { action = machine.packetsSent(at: time.now) }
            case .pause(let moment):
                await time.sleep(until: moment, for: "the bootloader to be ready")
                action = machine.pauseOver(at: time.now)
                done = .success(nil)
            case .ended(let ending):
                return Self.result(of: ending)
            }
            if case .failure(let error) = done {
                if error.isOurs { return .failure(.radio(error)) }
                action =
                    error == .timedOut
                    ? machine.timeout(at: max(time.now, deadline))
                    : machine.linkFailed(error.linkFailure, at: time.now)
            }
            if machine.acknowledged != known {
                known = machine.acknowledged
                await progress(
                    UploadProgress(acknowledged: known, resumedFrom: machine.resumedFrom)
                )
            }
        }
    }

    /// Passes the packets of a range to the radio; fails at the deadline.
    ///
    /// A full queue is the only fault of a packet that can be seen here.
    private func send(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        before deadline: Moment
    ) async -> Result<Void, RadioError> {
        var bytes = bytes
        do throws(RadioError) {
            bytes = bytes.dropFirst(try await link.queue(bytes, in: length, to: DFUNumbers.packet))
        } catch { return .failure(error) }
        guard !bytes.isEmpty else { return .success(()) }
        let (link, time, left) = (link, time, bytes)
        return await withTaskGroup(of: Result<Void, RadioError>.self) { group in
            group.addTask {
                var start = left.startIndex
                do throws(RadioError) {
                    while start < left.endIndex {
                        let end = min(start + length, left.endIndex)
                        try await link.send(Array(left[start..<end]), to: DFUNumbers.packet)
                        start = end
                    }
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await time.sleep(until: deadline, for: "the radio to take packets")
                return .failure(.timedOut)
            }
            let first = await group.next() ?? .failure(.timedOut)
            group.cancelAll()
            return first
        }
    }

    private static func result(of ending: SecureDFUUpload.Ending) -> Result<End, ModuleError> {
        switch ending {
        case .finished, .finishedOrLost: .success(.finished)
        case .stopped(let offset): .success(.stopped(at: offset))
        case .failed(let error): .failure(.upload(error))
        }
    }
}
