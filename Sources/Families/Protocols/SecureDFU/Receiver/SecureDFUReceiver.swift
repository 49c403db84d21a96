package import Base
package import Radio

/// A bootloader with Secure DFU, over one link.
package final class SecureDFUReceiver: ImageReceiver {
    private let control: DFUControlPoint
    private let link: any Link
    private let time: any Timekeeper
    private let times: UploadTimes
    package private(set) var bytesSent = 0

    package init(link: any Link, time: any Timekeeper, times: UploadTimes = UploadTimes()) {
        self.link = link
        self.time = time
        self.times = times
        control = DFUControlPoint(link: link, time: time)
    }

    package func probe(_ order: UpdateOrder) async throws(ModuleError) -> UpdateProbe {
        var machine = SecureDFUProbe(order.parts, limit: times.answer ?? .seconds(10))
        var action = machine.begin(at: time.now)
        while true {
            let deadline = machine.deadline ?? time.now
            let heard: Result<[UInt8]?, RadioError>
            switch action {
            case .write(let request):
                heard = await control.write(request, before: deadline).map { nil }
            case .wait:
                heard = await control.next(before: deadline).map { $0 }
            case .found(let probe): return probe
            case .failed(let error): throw .upload(error)
            }
            switch heard {
            case .success(nil): action = .wait
            case .success(let bytes?): action = machine.response(bytes, at: time.now)
            case .failure(.timedOut): action = machine.timeout(at: max(time.now, deadline))
            case .failure(let error):
                guard !error.isOurs else { throw .radio(error) }
                action = machine.linkFailed(error.linkFailure, at: time.now)
            }
        }
    }

    package func transfer(
        _ part: Int,
        of order: UpdateOrder,
        pace: Int,
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd {
        let uploader = DFUUploader(link: link, control: control, time: time, times: times)
        let result = await uploader.upload(
            order.parts[part],
            pace: pace,
            unless: isStopped,
            progress: progress
        )
        bytesSent += uploader.bytesSent
        // After the last object a bootloader restarts, even when another part follows.
        return try result.get() == .finished ? .finished(linkHolds: false) : .stopped
    }

    /// Does nothing: the execution of the last object was the activation.
    package func activate(_ order: UpdateOrder) async throws(ModuleError) {}

    package func disconnect() async { await link.disconnect() }
}

/// The control point of one link: it sends requests and returns notifications in order.
final class DFUControlPoint {
    private let link: any Link
    private let time: any Timekeeper
    private var notifications: (any Subscription)?

    init(link: any Link, time: any Timekeeper) {
        self.link = link
        self.time = time
    }

    func write(_ request: DFURequest, before deadline: Moment) async -> Result<Void, RadioError> {
        do throws(RadioError) {
            _ = try await subscription()
            try await link.write(request.bytes, to: DFUNumbers.controlPoint, before: deadline)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    func next(before deadline: Moment) async -> Result<[UInt8], RadioError> {
        do throws(RadioError) {
            return .success(try await subscription().next(before: deadline))
        } catch {
            return .failure(error)
        }
    }

    private func subscription() async throws(RadioError) -> any Subscription {
        if let notifications { return notifications }
        let fresh = try await link.subscribe(
            to: DFUNumbers.controlPoint,
            before: time.now.advanced(by: .seconds(10))
        )
        notifications = fresh
        return fresh
    }
}

extension RadioError {
    /// The fault is the host's or ours, so a session must not count it against the module.
    var isOurs: Bool { endsExchange }
}
