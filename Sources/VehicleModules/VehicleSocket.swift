import Domain
import Families
import Modules
import Radio
import Synchronization

/// The service that a device looks for, and its two characteristics.
public struct SocketConfiguration: Sendable, Hashable {
    let service: GATTUUID
    let notify: GATTUUID
    let write: GATTUUID

    /// UUIDs of 4 or 36 characters; those of a GO device where no characteristics are named.
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

/// Where a socket stands.
public enum SocketState: Sendable, Hashable {
    /// The service is being put on the air.
    case initializing
    case advertising
    /// A device has subscribed, and takes so many bytes at once.
    case connected(maximumLength: Int)
    /// The last state; nil where it was closed by us.
    case closed(ModuleFailure?)

    var isLast: Bool {
        if case .closed = self { true } else { false }
    }
}

/// Bytes to and from a device that connects to us.
public struct VehicleSocket: Sendable {
    let line: SocketLine
    let time: any Timekeeper

    public var state: SocketState { line.state.value }

    /// The state of now, then each newest one; it ends after `closed`.
    ///
    /// However fast it changes, a slow reader misses only what is older than the newest.
    public var states: AsyncStream<SocketState> {
        let reader = LastingReader(Source(line.state.values())) { $0.isLast }
        return AsyncStream { await reader.next() }
    }

    /// The most that goes out at once; nil while nobody is connected.
    public var maximumLength: Int? {
        if case .connected(let length) = state { length } else { nil }
    }

    /// Returns once a device has subscribed; throws why none will.
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

    /// Sends bytes, in as many pieces as it takes; returns when the radio has them all.
    ///
    /// One call at a time: the pieces of two calls would mix.
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

    /// What the device writes next, or wrote and nobody took; nil when nothing came in time.
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

    /// Ends the link and takes the service off the air.
    public func close() { line.close() }
}

/// What connects those who use a socket with the one who holds it open.
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

    /// A link that failed is over.
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
        // The link itself says so, and its end is reported by `over`.
        case .idle, .connected, .closed: return
        }
    }

    func over(_ failure: ModuleFailure?) {
        state.change(to: .closed(failure ?? fault.withLock { $0 }))
    }
}

extension ModuleRadio {
    /// Puts a service on the air for one device, and lends the socket while `body` runs, from the first moment.
    ///
    /// `timeout` is for the device to come. What it writes while nobody receives is kept as far as the radio keeps
    /// it; a device that writes on and on is waited for, or loses the link.
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
