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
    /// The host advertises, and the device has not connected yet.
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

    /// The state of the socket now.
    public var state: SocketState { line.state.value }

    /// The current state, and each new one; it ends after `closed`.
    ///
    /// However fast the state changes, a slow reader misses only older states, never the newest.
    public var states: AsyncStream<SocketState> {
        line.state.values { $0.isLast }
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
        // What a device has written before it left is not lost.
        if let write = line.taken() { return write }
        try await opened()
        return try await line.next(before: time.now.advanced(by: limit), time)
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
    private let inbox = Mutex(Inbox())
    /// Changes whenever something can be taken, and at the end.
    private let news = Latest(0)

    /// What the device has written and nobody has taken.
    private struct Inbox {
        var writes: [[UInt8]] = []
        var isOver = false
        var fault: ModuleFailure?
    }

    /// The number of writes that are kept here; the radio keeps the later ones, up to its own limit.
    private static let mostKept = 64

    init() { (ending, end) = AsyncStream.makeStream(of: Never.self) }

    func close() { finish(nil) }

    private func finish(_ fault: ModuleFailure?) {
        inbox.withLock { inbox in
            inbox.fault = inbox.fault ?? (inbox.isOver ? nil : fault)
            if fault == nil { inbox.writes = [] }
            inbox.isOver = true
        }
        end.finish()
        news.set(news.value + 1)
    }

    /// Holds the link until the socket is closed or lost, and takes what the device writes.
    func hold(_ central: any CentralLink, _ time: any Timekeeper) async {
        link.set(central)
        state.change(to: .connected(maximumLength: central.maximumLength))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.listen(to: central, time) }
            for await _ in ending {}
            group.cancelAll()
        }
        link.set(nil)
    }

    /// Takes what the device writes; this also notices when the link ends.
    private func listen(to central: any CentralLink, _ time: any Timekeeper) async {
        while !Task.isCancelled {
            guard inbox.withLock({ $0.writes.count < Self.mostKept }) else {
                await time.sleep(for: .milliseconds(50), "the program to take what was written")
                continue
            }
            do throws(RadioError) {
                // Limited: without a deadline, the timekeeper would keep one for each write.
                let limit = time.now.advanced(by: .seconds(10))
                let write = try await central.nextWrite(before: limit)
                inbox.withLock { $0.writes.append(write) }
                news.set(news.value + 1)
            } catch {
                guard error != .timedOut else { continue }
                if !Task.isCancelled { _ = failed(error) }
                return
            }
        }
    }

    /// The oldest write that nobody has taken.
    func taken() -> [UInt8]? {
        inbox.withLock { $0.writes.isEmpty ? nil : $0.writes.removeFirst() }
    }

    /// The next write; nil when none arrives in time.
    func next(
        before deadline: Moment,
        _ time: any Timekeeper
    ) async throws(ModuleFailure) -> [UInt8]? {
        while true {
            if let write = taken() { return write }
            let (isOver, fault) = inbox.withLock { ($0.isOver, $0.fault) }
            if isOver { throw fault ?? .ended }
            if Task.isCancelled { throw ModuleFailure(DiscoveryProblem(.cancelled)) }
            guard time.now < deadline else { return nil }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in self.news.values() where self.hasNews { return }
                }
                group.addTask { await time.sleep(until: deadline, for: "a device to write") }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Whether no device has connected yet.
    var isAwaited: Bool {
        switch state.value {
        case .initializing, .advertising: true
        case .connected, .closed: false
        }
    }

    private var hasNews: Bool { inbox.withLock { !$0.writes.isEmpty || $0.isOver } }

    /// Records that the link failed.
    func failed(_ error: RadioError) -> ModuleFailure {
        let failure =
            error == .cancelled
            ? ModuleFailure(DiscoveryProblem(error))
            : ModuleFailure(.moduleNotConnected, error.description, "open the socket again")
        finish(failure)
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
        state.change(to: .closed(failure ?? inbox.withLock { $0.fault }))
    }
}

extension ModuleRadio {
    /// Serves a service for one device, and lends the socket while `body` runs, from the beginning.
    ///
    /// `timeout` is the time for the device to connect. What the device writes is kept while no call
    /// receives it, up to the radio's limit; a device that goes on writing has to wait, or loses the
    /// link. When a link ends, `states` says so at once.
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
        let result = await Self.beside {
            while true {
                do throws(CarShareError) {
                    try await station.withCentral { await line.hold($0, time) }
                    return line.over(nil)
                } catch {
                    let failure = ModuleFailure(error)
                    if failure.isOff, line.isAwaited, await mayBeginAgain() { continue }
                    return line.over(failure)
                }
            }
        } _: {
            try await body(VehicleSocket(line: line, time: time))
        } mustEnd: {
            line.close()
            return line.isAwaited
        }
        return try result.get()
    }
}
