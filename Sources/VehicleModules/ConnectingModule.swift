import Families
import Radio

/// A connection to a module, from the beginning of the attempt.
public struct ConnectingModule: Sendable {
    let connection: ModuleConnection
    let module: ConnectedModule
    let outcome: Latest<Result<Void, ModuleFailure>?>

    /// The state of the connection now.
    public var state: ModuleConnectionState { module.state }

    /// The state of the connection: the current one, and each new one.
    ///
    /// It does not end by itself: leave the loop at `disconnected`. A slow reader misses only older states, never the newest.
    public var states: AsyncStream<ModuleConnectionState> { module.states }

    /// The module, once it is connected; throws the reason when that is impossible.
    public func connected() async throws(ModuleFailure) -> ConnectedModule {
        for await result in outcome.values() {
            guard let result else { continue }
            try result.get()
            return module
        }
        throw ModuleFailure(.aborted, "the wait for the module was cancelled", "wait for it again")
    }

    /// Ends the link or the attempt.
    public func disconnect() async { await connection.disconnect() }
}

extension ModuleRadio {
    /// Starts to connect to a module, runs `body` at the same time, and ends the connection
    /// afterwards.
    ///
    /// The same as `withModule`, for programs that show the progress of connecting: the body begins at
    /// once, and what a failure to connect throws is `connected()`.
    ///
    /// ```swift
    /// try await radio.withConnection("00a0000000000001", secret: secret) { connection in
    ///     for await state in connection.states {
    ///         show(state)
    ///         if case .connected = state { break }
    ///         if case .disconnected = state { break }
    ///     }
    ///     show(try await connection.connected())
    /// }
    /// ```
    @discardableResult
    public func withConnection<R: Sendable>(
        _ serial: String,
        family: String = "comodule",
        profile: String = "generic",
        secret: ModuleSecret? = nil,
        bond: ModuleBond? = nil,
        timeout: Duration = .seconds(30),
        reconnects: Bool = false,
        updates: (@Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck)? = nil,
        _ body: @Sendable (ConnectingModule) async throws -> R
    ) async throws -> R {
        let known = try Self.serial(serial)
        let profile = try Self.profile(profile, of: self.family(named: family), in: library)
        var options = ModuleConnection.Options(profile)
        options.reconnects = reconnects
        options.bond = bond?.policy
        options.updates = updates ?? options.updates
        let wanted = options
        let result = await connection().tended { connection in
            let outcome = Latest<Result<Void, ModuleFailure>?>(nil)
            return await Self.beside {
                do throws(ModuleFailure) {
                    try await connection.connect(
                        known,
                        secret: secret?.secret,
                        timeout: timeout,
                        options: wanted
                    )
                    outcome.set(.success(()))
                } catch { outcome.set(.failure(error)) }
            } _: {
                let module = ConnectedModule(connection: connection, radio: self)
                return try await body(
                    ConnectingModule(connection: connection, module: module, outcome: outcome)
                )
            }
        }
        return try result.get()
    }

    /// Lends a connected module while `body` runs, and ends the connection afterwards.
    ///
    /// The module may be of any family whose modules advertise: `comodule`, `mcumgr`, `nordic`, `esp`,
    /// `lrdevice`, or one of the program's own; `profile` is one of its profiles. `secret` opens it, where the family
    /// requires one. `bond` is made before anything is read; without it, the profile decides. With
    /// `reconnects`, a lost link is made again without a time limit. `updates` is called once for
    /// each connection, and returns whether there is an update for the module.
    @discardableResult
    public func withModule<R: Sendable>(
        _ serial: String,
        family: String = "comodule",
        profile: String = "generic",
        secret: ModuleSecret? = nil,
        bond: ModuleBond? = nil,
        timeout: Duration = .seconds(30),
        reconnects: Bool = false,
        updates: (@Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck)? = nil,
        _ body: @Sendable (ConnectedModule) async throws -> R
    ) async throws -> R {
        try await withConnection(
            serial,
            family: family,
            profile: profile,
            secret: secret,
            bond: bond,
            timeout: timeout,
            reconnects: reconnects,
            updates: updates
        ) { try await body($0.connected()) }
    }

    /// Lends a connected module as it was discovered: with its family and the first of its profiles.
    @discardableResult
    public func withModule<R: Sendable>(
        _ found: DiscoveredVehicleModule,
        secret: ModuleSecret? = nil,
        bond: ModuleBond? = nil,
        timeout: Duration = .seconds(30),
        reconnects: Bool = false,
        updates: (@Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck)? = nil,
        _ body: @Sendable (ConnectedModule) async throws -> R
    ) async throws -> R {
        try await withModule(
            found.serial,
            family: found.family,
            profile: found.profiles[0],
            secret: secret,
            bond: bond,
            timeout: timeout,
            reconnects: reconnects,
            updates: updates,
            body
        )
    }
}
