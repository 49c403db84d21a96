import Base
import Families
import Radio
import Synchronization

/// The state of the link to a vehicle, and of the command on it.
public enum VehicleState: Sendable, Hashable {
    /// The service is being registered with the adapter.
    case initializing
    /// The adapter advertises and waits for the vehicle's device to connect.
    case advertising
    /// The vehicle has connected, and the layers above the link are set up.
    case handshaking
    /// Commands can be sent.
    case connected
    /// A command is carried out.
    case commanding(Step)
    /// The last state; nil where this program ended the link.
    case disconnected(ModuleFailure?)

    /// The steps of a command, in order.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// The program asks the vehicle whether a command may be sent.
        case requesting
        /// The vehicle was asked to listen; its challenge has not arrived yet.
        case waitingForChallenge = "waiting-for-challenge"
        /// The signed command is sent.
        case issuing
        /// The vehicle verifies the command.
        case awaitingVerdict = "awaiting-verdict"
        /// The vehicle carries out the command.
        case awaitingResult = "awaiting-result"
    }

    /// Nil for phases that change no public state.
    fileprivate init?(_ phase: CarSharePhase) {
        switch phase {
        case .handshaking: self = .handshaking
        case .ready: self = .connected
        case .requesting: self = .commanding(.requesting)
        case .waitingForChallenge: self = .commanding(.waitingForChallenge)
        case .issuing: self = .commanding(.issuing)
        case .awaitingVerdict: self = .commanding(.awaitingVerdict)
        case .awaitingResult: self = .commanding(.awaitingResult)
        case .over: return nil
        }
    }

    var isLast: Bool {
        if case .disconnected = self { true } else { false }
    }
}

/// A vehicle's GO device, from the beginning of the wait for it.
public struct ConnectedVehicle: Sendable {
    let line: VehicleLine
    /// The token that the vehicle is waited for with.
    let token: VehicleToken

    /// The state of the connection now.
    public var state: VehicleState { line.state.value }

    /// The current state, and each new one; it ends after `disconnected`.
    ///
    /// However fast the state changes, a slow reader misses only older states, never the newest.
    public var states: AsyncStream<VehicleState> {
        line.state.values { $0.isLast }
    }

    /// Returns once commands can be sent; throws the reason when that is impossible.
    public func connected() async throws(ModuleFailure) {
        for await state in states {
            switch state {
            case .connected, .commanding: return
            case .disconnected(let failure): throw failure ?? .ended
            case .initializing, .advertising, .handshaking: continue
            }
        }
        throw .ended
    }

    /// Sends commands in one request, once the vehicle is connected; returns what it reports when
    /// they are done.
    ///
    /// Concurrent calls run one after another. The code of a failure shows what happened to the
    /// commands: `refused` when the vehicle refused them, `command-failed` when it tried, and
    /// `in-doubt` when the result is unknown; with any other code they were not sent. The library
    /// never sends a command twice.
    ///
    /// With `token`, the commands are signed by it: another one for the same vehicle, for example of
    /// another booking.
    @discardableResult
    public func send(
        _ commands: VehicleCommand...,
        with token: VehicleToken? = nil,
        within limit: Duration = .seconds(120)
    ) async throws(ModuleFailure) -> [VehicleStatus] {
        guard let orders = CarShareCommands(commands.map(\.command)) else {
            throw ModuleFailure(.invalidValue, "there is no command", "name at least one")
        }
        if let token, token.credentials.service != self.token.credentials.service {
            throw ModuleFailure(
                .otherVehicle,
                "the token is for another vehicle than the one that is connected",
                "give the vehicle its own"
            )
        }
        try await connected()
        return try await line.send(orders, by: token?.credentials, within: limit)
    }

    /// Ends the link; afterwards nothing can be sent.
    public func disconnect() { line.close() }
}

/// Connects the tasks that send commands with the task that owns the link.
final class VehicleLine: Sendable {
    private struct WaitingCommands {
        let commands: CarShareCommands
        let credentials: CarShareCredentials?
        let limit: Duration
        let answer: AsyncStream<Result<[VehicleStatus], ModuleFailure>>.Continuation
    }

    private struct Orders {
        var waiting: [WaitingCommands] = []
        var isClosed = false
    }

    /// How often the task with the link checks for commands.
    private static let look = Duration.milliseconds(50)

    let state = Latest(VehicleState.initializing)
    private let orders = Mutex(Orders())

    func close() { orders.withLock { $0.isClosed = true } }

    func send(
        _ commands: CarShareCommands,
        by credentials: CarShareCredentials?,
        within limit: Duration
    ) async throws(ModuleFailure) -> [VehicleStatus] {
        let (answers, answer) = AsyncStream.makeStream(
            of: Result<[VehicleStatus], ModuleFailure>.self,
            bufferingPolicy: .bufferingOldest(1)
        )
        let isTaken = orders.withLock { orders in
            guard !orders.isClosed else { return false }
            orders.waiting.append(
                WaitingCommands(
                    commands: commands,
                    credentials: credentials,
                    limit: limit,
                    answer: answer
                )
            )
            return true
        }
        guard isTaken else { throw .ended }
        for await result in answers { return try result.get() }
        throw ModuleFailure(
            .inDoubt,
            "the wait for the answer was cancelled",
            "look at the vehicle before you give the command again"
        )
    }

    private func next() -> WaitingCommands? {
        orders.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    private var isClosed: Bool { orders.withLock { $0.isClosed } }

    /// Whether no command can be sent yet.
    var isAwaited: Bool {
        switch state.value {
        case .initializing, .advertising, .handshaking: true
        case .connected, .commanding, .disconnected: false
        }
    }

    /// The link has ended: fails all waiting commands.
    func end(_ failure: ModuleFailure?) {
        let left = orders.withLock { orders in
            defer { orders = Orders(isClosed: true) }
            return orders.waiting
        }
        for order in left {
            order.answer.yield(.failure(failure ?? .ended))
            order.answer.finish()
        }
        state.change(to: .disconnected(failure))
    }

    /// Carries out commands until the line is closed or the link ends; returns the reason.
    func work(_ link: CarShareLink, _ time: any Timekeeper) async -> ModuleFailure? {
        while !isClosed, !Task.isCancelled {
            guard let order = next() else {
                let limit = time.now.advanced(by: Self.look)
                if let error = await link.attend(before: limit) { return ModuleFailure(error) }
                continue
            }
            let limit = time.now.advanced(by: order.limit)
            do throws(CarShareError) {
                let report = try await link.send(
                    order.commands,
                    by: order.credentials,
                    before: limit
                )
                order.answer.yield(.success(report.statuses.map { VehicleStatus($0) }))
            } catch {
                order.answer.yield(.failure(ModuleFailure(error)))
            }
            order.answer.finish()
        }
        return nil
    }

    func tell(_ state: CarShareSocket.State) {
        switch state {
        case .initializing: self.state.change(to: .initializing)
        case .advertising: self.state.change(to: .advertising)
        case .connected: self.state.change(to: .handshaking)
        case .idle, .closed: return
        }
    }

    func tell(_ phase: CarSharePhase) {
        if let next = VehicleState(phase) { state.change(to: next) }
    }
}

extension ModuleRadio {
    /// Waits for a vehicle's GO device and lends it while `body` runs, from the beginning of the
    /// wait.
    ///
    /// A GO device connects to us: the adapter advertises the service that the token names. With
    /// `serial` or `hardwareID`, a token of another vehicle is rejected before any radio work; a token
    /// that names no serial passes the check of `serial`.
    /// `timeout` is the time for the vehicle to connect and complete the handshake. With `bond`,
    /// its device must bond before the first command.
    ///
    /// ```swift
    /// try await radio.withVehicle(token) { vehicle in
    ///     try await vehicle.send(.unlockDriver)
    /// }
    /// ```
    @discardableResult
    public func withVehicle<R: Sendable>(
        _ token: VehicleToken,
        serial: String? = nil,
        hardwareID: UInt64? = nil,
        profile: String = "generic",
        bond: ModuleBond? = nil,
        timeout: Duration = .seconds(120),
        _ body: @Sendable (ConnectedVehicle) async throws -> R
    ) async throws -> R {
        try token.check(serial: serial, hardwareID: hardwareID)
        let profile = try Self.profile(profile, of: family(named: "geotab-go"), in: library)
        let line = VehicleLine()
        let (time, log) = (time, log)
        let device = CarShareVehicle(
            peripheral: peripheral,
            credentials: token.credentials.speaking(by: profile),
            bond: bond?.policy ?? profile.unattendedBond,
            time: time,
            notes: { log.info("the vehicle: \(name: $0.description)") },
            states: { line.tell($0) },
            phases: { line.tell($0) }
        )
        let result = await Self.beside {
            while true {
                do throws(CarShareError) {
                    let end = try await device.withLink(
                        before: time.now.advanced(by: timeout)
                    ) { link in
                        log.info("a vehicle is connected")
                        return await line.work(link, time)
                    }
                    return line.end(end)
                } catch {
                    let failure = ModuleFailure(error)
                    if failure.isOff, line.isAwaited, await mayBeginAgain() { continue }
                    if failure.code != .aborted {
                        log.error("the vehicle: \(name: failure.description)")
                    }
                    return line.end(failure)
                }
            }
        } _: {
            try await body(ConnectedVehicle(line: line, token: token))
        } mustEnd: {
            line.close()
            // If the vehicle has not connected by now, the wait ends.
            return line.isAwaited
        }
        return try result.get()
    }
}

extension ModuleFailure {
    static let ended = ModuleFailure(.moduleNotConnected, "the link has ended", "connect again")

    /// Whether Bluetooth is off, or not there.
    var isOff: Bool { code == .bluetoothDisabled || code == .bluetoothNotSupported }

    init(_ error: CarShareError) {
        let code: Code
        let remedy: String
        switch error.fate {
        case .inDoubt:
            (code, remedy) = (.inDoubt, "look at the vehicle before you give the command again")
        case .failed:
            (code, remedy) = (.commandFailed, "look at the vehicle, and send the command again")
        case .refused:
            (code, remedy) = (.refused, "do what it asks for, and send the command again")
        case .notSent:
            if let radio = error.radioError, radio.isHostFault {
                self.init(DiscoveryProblem(radio))
                return
            }
            (code, remedy) = Self.unsent(error.reason)
        }
        self.init(code, error.description, remedy)
        if case .session(.statuses(let statuses)) = error.reason {
            self.statuses = statuses.map { VehicleStatus($0) }
        }
    }

    private static func unsent(_ reason: CarShareError.Reason) -> (Code, String) {
        switch reason {
        case .token: (.invalidToken, "get a token that holds now, and check the clock here")
        case .radio(.cancelled): (.aborted, "connect again if nobody else wants to")
        case .radio: (.moduleNotConnected, "connect again")
        case .socket(.nobodyCame), .session(.outOfTime), .session(.silence):
            (.timedOut, "see whether the vehicle is near, awake, and the one of the token")
        case .socket(.radio(.unauthorized)):
            (.missingPermissions, "give this user the right to use Bluetooth")
        case .socket: (.moduleNotConnected, "connect again")
        case .session(.handshake(.otherVehicle)):
            (.otherVehicle, "give the vehicle its own token")
        case .session(.signing), .session(.tooLong):
            (.invalidToken, "get another token from its issuer")
        case .session: (.moduleNotConnected, "connect again")
        }
    }
}
