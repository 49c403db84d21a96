import Domain
import Families
import Marked
import Modules
import Radio
import Simulation
import Threads

/// Where modules are looked for.
public enum ModuleAir: Sendable {
    /// The simulated depot of a YAML file, in virtual time.
    case simulated(depot: String)
    /// The host's own Bluetooth, through BlueZ, in real time: the adapter of this name or address, or
    /// the first that is switched on. `bus` is the address of the D-Bus bus that has BlueZ; without
    /// it that is `$DBUS_SYSTEM_BUS_ADDRESS`, or else the system bus.
    case bluez(adapter: String? = nil, bus: String? = nil)
}

/// Finds modules and connects to them.
public struct ModuleRadio: Sendable {
    let central: any Central
    let time: any Timekeeper
    let library: ProfileLibrary
    private let cache = ModuleCache()
    let log: ModuleLog

    init(central: any Central, time: any Timekeeper, library: ProfileLibrary) {
        self.central = central
        self.time = time
        self.library = library
        log = ModuleLog(time: time)
    }

    /// Lends a radio for as long as `body` runs.
    ///
    /// `profiles` names a folder of profiles that are used besides those that are built in. In simulated
    /// air time is virtual: wait with `pause` there, and start only tasks that are children of the
    /// body's. On BlueZ the body runs where it was called, and its radio may be used from any task
    /// until it ends.
    public static func on<R: Sendable>(
        _ air: ModuleAir,
        profiles: String? = nil,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        let library = try Self.library(profiles)
        switch air {
        case .simulated(let depot):
            return try await SimulatedAir.play(depot, library, body)
        case .bluez(let adapter, let bus):
            return try await HostRadio.lend(adapter: adapter, bus: bus, library, body)
        }
    }

    private static func library(_ folder: String?) throws(ModuleFailure) -> ProfileLibrary {
        guard let folder else { return .shipped }
        let diagnostics = Diagnostics()
        let library: ProfileLibrary
        do throws(FileError) {
            library = try ProfileLibrary.shipped.adding(folder: folder, diagnostics)
        } catch {
            throw ModuleFailure(.invalidFile, error.description, "name a folder of profiles")
        }
        if diagnostics.hasErrors { throw ModuleFailure(diagnostics, in: folder) }
        return library
    }

    /// Waits as long as the air's time says; in simulated air that takes no time at all.
    public func pause(for duration: Duration) async {
        await time.sleep(for: duration, "the user of the library")
    }

    // MARK: Discovery

    /// Scans for so long, or until a module with this serial is heard; all that were heard, by
    /// serial.
    public func scan(
        for duration: Duration = .seconds(30),
        until serial: String? = nil
    ) async throws(ModuleFailure) -> [DiscoveredVehicleModule] {
        let discovery = Discovery(central: central, time: time, library: library, log: log)
        let heard = Latest<[Serial: DiscoveredModule]>([:])
        do throws(DiscoveryProblem) {
            try await discovery.scan(for: .lasting(duration)) { module in
                var all = heard.value
                all[module.serial] = module
                heard.set(all)
                return module.serial.text == serial?.lowercased()
            }
        } catch { throw ModuleFailure(error) }
        return heard.value.values.sorted { $0.serial < $1.serial }
            .map { DiscoveredVehicleModule($0) }
    }

    // MARK: Connection

    /// Lends a connected module for as long as `body` runs, and ends the connection afterwards.
    ///
    /// With `reconnects`, a lost link is made anew for as long as it takes. `updates` is asked once for each
    /// connection whether there is an update for the module.
    public func withModule<R: Sendable>(
        _ serial: String,
        secret: ModuleSecret,
        profile: String = "generic",
        timeout: Duration = .seconds(30),
        reconnects: Bool = false,
        updates: (@Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck)? = nil,
        _ body: @Sendable (ConnectedModule) async throws -> R
    ) async throws -> R {
        let known = try Self.serial(serial)
        let form = try Self.profile(profile, of: Self.family("comodule"), in: library)
        var options = ModuleConnection.Options()
        options.reconnects = reconnects
        options.profiles = .named(profile, in: library)
        if let updates {
            options.updates = { await updates(ModuleFirmwareInfo($0)).check }
        }
        let wanted = options
        let connection = ModuleConnection(
            central: central,
            time: time,
            library: library,
            cache: cache,
            log: log
        )
        let result = await connection.tended { connection in
            await Self.attempt {
                do throws(ConnectError) {
                    try await connection.connect(
                        known,
                        secret: secret.secret,
                        timeout: timeout,
                        options: wanted
                    )
                } catch { throw ModuleFailure(error) }
                return try await body(ConnectedModule(connection, on: self, form))
            }
        }
        return try result.get()
    }

    static func serial(_ text: String) throws(ModuleFailure) -> Serial {
        if let serial = Serial(text) { return serial }
        throw ModuleFailure(
            .invalidSerial,
            "`\(text.visible.prefix(64))` is no serial",
            "give 1 to 64 visible characters"
        )
    }

    static func profile(
        _ name: String,
        of family: Family,
        in library: ProfileLibrary
    ) throws(ModuleFailure) -> Profile {
        do throws(PropertyMistake) { return try library.require(name, of: family) } catch {
            throw ModuleFailure(.invalidFile, error.message, error.hint)
        }
    }

    static func attempt<R>(_ body: () async throws -> R) async -> Result<R, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    // MARK: Logs and cache

    /// The last 250 entries, the oldest first; no secret is in them.
    public var logs: [String] { log.entries.map(\.description) }

    public func clearLogs() { log.clear() }

    /// Hands each new entry on as well, or none any more.
    public func logToConsole(_ console: (@Sendable (String) -> Void)?) {
        guard let console else { return log.show(on: nil) }
        log.show { console($0.description) }
    }

    /// Forgets what was learned about modules to make the next handshake shorter.
    public func clearCache() { cache.clear() }
}

extension ModuleFailure {
    init(_ diagnostics: Diagnostics, in path: String) {
        let first = diagnostics.list.first { $0.severity == .error }
        self.init(
            .invalidFile,
            first.map { "\($0.place): \($0.message)" } ?? "\(path) cannot be used",
            first?.hint ?? "mend it"
        )
    }
}

/// Plays a simulated depot on a thread of its own: virtual time is spent in one long call.
private actor SimulatedAir {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(_ executor: ThreadExecutor) { self.executor = executor }

    static func play<R: Sendable>(
        _ path: String,
        _ library: ProfileLibrary,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        let diagnostics = Diagnostics()
        let file: DepotFile?
        do throws(FileError) {
            file = try DepotFile.load(
                path: path,
                families: FamilyRegistry.simulated,
                profiles: library,
                diagnostics
            )
        } catch { throw ModuleFailure(.invalidFile, error.description, "name a simulated depot") }
        guard let file else { throw ModuleFailure(diagnostics, in: path) }
        let executor = try ThreadExecutor.start(name: "simulated air")
        let result = await SimulatedAir(executor).play(file, library, body)
        executor.stop()
        return try result.get()
    }

    private func play<R: Sendable>(
        _ file: DepotFile,
        _ library: ProfileLibrary,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) -> Result<R, any Error> {
        do {
            let depot = try SimulatedDepot(file)
            return try depot.simulation.run { () async -> Result<R, any Error> in
                do {
                    try await depot.populate()
                    let radio = ModuleRadio(
                        central: depot.radio(file.adapters[0]),
                        time: depot.simulation.time,
                        library: library
                    )
                    return .success(try await body(radio))
                } catch { return .failure(error) }
            }
        } catch { return .failure(error) }
    }
}
