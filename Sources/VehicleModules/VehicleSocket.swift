import Base
import Families
import Radio
import Synchronization

/// The service that a device searches for, and its two characteristics.
public struct SocketConfiguration: Sendable, Hashable {
    let service: GATTUUID
    let notify: GATTUUID
    let write: GATTUUID

    /// UUIDs of 4 or 36 characters; where no characteristics are given, those of a GO device.
    public init(
        service: String,
        notify: String? = nil,
        write: String? = nil
    ) throws(ModuleFailure) {
        func uuid(_ text: String) throws(ModuleFailure) -> GATTUUID {
            if let uuid = GATTUUID(text) { return uuid }
            throw ModuleFailure(
                .invalidValue,
                "`\(text.visible.prefix(64))` is no UUID",
                "write it as 0574583b-0d8d-2962-4d79-0f43eeb96c98"
            )
        }
        self.service = try uuid(service)
        self.notify = try notify.map(uuid) ?? AddOnNumbers.notify
        self.write = try write.map(uuid) ?? AddOnNumbers.write
    }
}

/// The state of a socket.
public enum SocketState: Sendable, Hashable {
    /// The service is being registered with the adapter.
    case initializing
    case advertising
    /// A device has subscribed; a packet to it holds `maximumLength` bytes.
    case connected(maximumLength: Int)
    /// The last state; nil where this program closed the socket.
    case closed(ModuleFailure?)

    var isLast: Bool {
        if case .closed = self { true } else { false }
    }
}

/// A byte stream to and from a device that connects to us.
public struct VehicleSocket: Sendable {
    let line: SocketLine
    let time: any Timekeeper

    public var state: SocketState { line.state.value }

    /// The current state, and each new one; it ends after `closed`.
    ///
    /// However fast the state changes, a slow reader misses only older states, never the newest.
    public var states: AsyncStream<SocketState> {
        let reader = LastingReader(Source(line.state.values())) { $0.isLast }
        return AsyncStream { await reader.next() }
    }

    /// The most bytes in one packet; nil while no device is connected.
    public var maximumLength: Int? {
        if case .connected(let length) = state { length } else { nil }
    }

    /// Returns once a device has subscribed; throws the reason when that is impossible.
    public func opened() async throws(ModuleFailure) {
        for await state in states {
            switch state {
            case .connected: return
            case .closed(let failure): throw failure ?? .ended
            case .initializing, .advertising: continue
            }
        }
        throw .ended
    }

    /// Sends bytes in as many pieces as necessary; returns when the radio has them all.
    ///
    /// Only one call may run at a time: the pieces of two calls would mix.
    public func send(_ bytes: [UInt8]) async throws(ModuleFailure) {
        try await opened()
        guard let link = line.link.value else { throw .ended }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(link.maximumLength))
            rest = rest.dropFirst(piece.count)
            do throws(RadioError) { try await link.notify(piece) } catch {
                throw line.failed(error)
            }
        }
    }

    /// The next bytes that the device writes, or has written before; nil when none arrive in time.
    public func receive(within limit: Duration) async throws(ModuleFailure) -> [UInt8]? {
        try await opened()
        guard let link = line.link.value else { throw .ended }
        do throws(RadioError) {
            return try await link.nextWrite(before: time.now.advanced(by: limit))
        } catch {
            if error == .timedOut { return nil }
            throw line.failed(error)
        }
    }

    /// Ends the link and stops serving.
    public func close() { line.close() }
}

/// Connects the tasks that use a socket with the task that keeps it open.
final class SocketLine: Sendable {
    let state = Latest(SocketState.initializing)
    let link = Latest<(any CentralLink)?>(nil)
    private let ending: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation
    private let fault = Mutex<ModuleFailure?>(nil)

    init() { (ending, end) = AsyncStream.makeStream(of: Never.self) }

    func close() { end.finish() }

    /// Holds the link until the socket is closed or lost.
    func hold(_ central: any CentralLink) async {
        link.set(central)
        state.change(to: .connected(maximumLength: central.maximumLength))
        for await _ in ending {}
        link.set(nil)
    }

    /// Records that the link failed.
    func failed(_ error: RadioError) -> ModuleFailure {
        let failure =
            error == .cancelled
            ? ModuleFailure(DiscoveryProblem(error))
            : ModuleFailure(.moduleNotConnected, error.description, "open the socket again")
        fault.withLock { $0 = $0 ?? failure }
        close()
        return failure
    }

    func tell(_ now: CarShareSocket.State) {
        switch now {
        case .initializing: state.change(to: .initializing)
        case .advertising: state.change(to: .advertising)
        // The link itself reports this, and `over` reports its end.
        case .idle, .connected, .closed: return
        }
    }

    func over(_ failure: ModuleFailure?) {
        state.change(to: .closed(failure ?? fault.withLock { $0 }))
    }
}

extension ModuleRadio {
    /// Serves a service for one device, and lends the socket while `body` runs, from the beginning.
    ///
    /// `timeout` is the time for the device to connect. The radio keeps what the device writes
    /// while no call receives, up to its limit; a device that goes on writing has to wait, or loses
    /// the link.
    @discardableResult
    public func withSocket<R: Sendable>(
        _ configuration: SocketConfiguration,
        timeout: Duration = .seconds(90),
        _ body: @Sendable (VehicleSocket) async throws -> R
    ) async throws -> R {
        let (line, time) = (SocketLine(), time)
        var limits = CarShareLimits()
        limits.arrival = timeout
        let station = CarShareStation(
            peripheral: peripheral,
            description: ServiceDescription(
                uuid: configuration.service,
                notify: configuration.notify,
                write: configuration.write
            ),
            time: time,
            limits: limits,
            states: { line.tell($0) }
        )
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do throws(CarShareError) {
                    try await station.withCentral { await line.hold($0) }
                    line.over(nil)
                } catch { line.over(ModuleFailure(error)) }
            }
            let result = await Self.attempt {
                try await body(VehicleSocket(line: line, time: time))
            }
            line.close()
            if case .connected = line.state.value {} else { group.cancelAll() }
            await group.waitForAll()
            return result
        }
        return try result.get()
    }
}
