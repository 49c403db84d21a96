import Base
import Families
import Radio
import Simulation

/// The radio through which modules are reached.
public enum ModuleAir: Sendable {
    /// The simulated depot of a YAML file, in virtual time.
    case simulated(depot: String)
    /// The host's own Bluetooth, through BlueZ, in real time: the adapter of this name or address,
    /// or the first that is switched on.
    ///
    /// `bus` is the address of the D-Bus bus that has BlueZ; without it, that is
    /// `$DBUS_SYSTEM_BUS_ADDRESS`, or else the system bus. `links` names a file that lists the open
    /// links: Bluetooth keeps the links of a program that is killed, and the next program with this
    /// file takes them over. Without the file, they count as those of another program.
    case bluez(adapter: String? = nil, bus: String? = nil, links: String? = nil)
}

/// What to do when the host's Bluetooth is off, or not there yet, when a radio is opened.
public enum RadioOpening: Sendable, Hashable {
    /// The opening fails.
    case now
    /// The opening waits for an adapter, and scans for Bluetooth to be on, up to this time after the
    /// opening began.
    ///
    /// An attempt to connect waits within its own timeout, and is `bluetoothOff` meanwhile.
    case wait(upTo: Duration)

    var patience: Duration {
        switch self {
        case .now: .zero
        case .wait(let time): time
        }
    }
}

/// Finds modules and connects to them.
public struct ModuleRadio: Sendable {
    let central: any Central
    let peripheral: any Peripheral
    let time: any Timekeeper
    let library: ProfileLibrary
    private let cache = ModuleCache()
    let log: ModuleLog
    /// Until when scans wait for Bluetooth to be on.
    private let patience: Moment

    init(
        central: any Central,
        peripheral: any Peripheral,
        time: any Timekeeper,
        library: ProfileLibrary,
        opening: RadioOpening
    ) {
        self.central = central
        self.peripheral = peripheral
        self.time = time
        self.library = library
        log = ModuleLog(time: time)
        patience = time.now.advanced(by: opening.patience)
    }

    /// Lends a radio while `body` runs.
    ///
    /// `opening` says what to do when Bluetooth is off. `profiles` names a folder with profiles that are used in addition to the built-in ones;
    /// `log` gets each entry of the log. In simulated air time is virtual: wait with `pause` there,
    /// and start only tasks that are children of the body's. On BlueZ the body runs where it was
    /// called, and its radio may be used from any task until it ends.
    public static func on<R: Sendable>(
        _ air: ModuleAir,
        opening: RadioOpening = .now,
        profiles: String? = nil,
        log: (@Sendable (ModuleLogEntry) -> Void)? = nil,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        let library = try Self.library(profiles)
        let logged: @Sendable (ModuleRadio) async throws -> R = { radio in
            radio.log(to: log)
            return try await body(radio)
        }
        switch air {
        case .simulated(let depot):
            return try await SimulatedAir.play(depot, library, opening, logged)
        case .bluez(let adapter, let bus, let links):
            return try await HostRadio.lend(
                adapter: adapter,
                bus: bus,
                links: links,
                opening: opening,
                library,
                logged
            )
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

    /// Waits for a duration of the air's time; in simulated air that takes no real time.
    public func pause(for duration: Duration) async {
        await time.sleep(for: duration, "the user of the library")
    }

    // MARK: Discovery

    /// Scans for `duration`, or until a module with this serial is heard; returns all modules that
    /// were heard, sorted by serial.
    public func scan(
        for duration: Duration = .seconds(30),
        until serial: String? = nil
    ) async throws(ModuleFailure) -> [DiscoveredVehicleModule] {
        let discovery = discovery()
        let heard = Latest<[Serial: DiscoveredModule]>([:])
        do throws(DiscoveryProblem) {
            try await search(discovery, for: duration) { module in
                var all = heard.value
                all[module.serial] = module
                heard.set(all)
                return module.serial.text == serial?.lowercased()
            }
        } catch { throw ModuleFailure(error) }
        return heard.value.values.sorted { $0.serial < $1.serial }
            .compactMap { DiscoveredVehicleModule($0) }
    }

    /// Scans; a scan that finds Bluetooth off begins again, for as long as the radio was opened to
    /// wait.
    func search(
        _ discovery: Discovery,
        for duration: Duration,
        until isWanted: @escaping @Sendable (DiscoveredModule) -> Bool = { _ in false }
    ) async throws(DiscoveryProblem) {
        while true {
            do throws(DiscoveryProblem) {
                try await discovery.scan(for: .lasting(duration), until: isWanted)
                return
            } catch {
                let isOff = error == .bluetoothDisabled || error == .bluetoothUnavailable
                guard isOff, time.now < patience, !Task.isCancelled else {
                    // A scan that its program ends is no error.
                    if error != .unexpected(.cancelled) { log.error("\(error)") }
                    throw error
                }
                await time.sleep(for: .seconds(1), "Bluetooth to be switched on")
            }
        }
    }

    func discovery() -> Discovery {
        Discovery(central: central, time: time, library: library, notes: { [log] in log.info($0) })
    }

    // MARK: Connection

    func connection() -> ModuleConnection {
        ModuleConnection(central: central, time: time, library: library, cache: cache, log: log)
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

    /// Runs `work` beside the body.
    ///
    /// When the body has ended, the work is cancelled if it `mustEnd`, and waited for.
    static func beside<R>(
        _ work: @escaping @Sendable () async -> Void,
        _ body: () async throws -> R,
        mustEnd: () -> Bool = { true }
    ) async -> Result<R, any Error> {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await work() }
            let result = await attempt(body)
            if mustEnd() { group.cancelAll() }
            await group.waitForAll()
            return result
        }
    }

    // MARK: Cache

    /// Deletes the remembered facts that make the next handshake shorter.
    public func clearCache() { cache.clear() }
}

extension ModuleFailure {
    init(_ diagnostics: Diagnostics, in path: String) {
        let first = diagnostics.list.first { $0.severity == .error }
        self.init(
            .invalidFile,
            first.map { "\($0.place): \($0.message)" } ?? "\(path) cannot be used",
            first?.hint ?? "fix it"
        )
    }
}

/// Runs a simulated depot on its own thread: virtual time passes in one long call.
private actor SimulatedAir {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(_ executor: ThreadExecutor) { self.executor = executor }

    static func play<R: Sendable>(
        _ path: String,
        _ library: ProfileLibrary,
        _ opening: RadioOpening,
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
        let result = await SimulatedAir(executor).play(file, library, opening, body)
        executor.stop()
        return try result.get()
    }

    private func play<R: Sendable>(
        _ file: DepotFile,
        _ library: ProfileLibrary,
        _ opening: RadioOpening,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) -> Result<R, any Error> {
        do {
            let depot = try SimulatedDepot(file)
            return try depot.simulation.run { () async -> Result<R, any Error> in
                do {
                    try await depot.populate()
                    let adapter = depot.radio(file.adapters[0])
                    let radio = ModuleRadio(
                        central: adapter,
                        peripheral: adapter,
                        time: depot.simulation.time,
                        library: library,
                        opening: opening
                    )
                    return .success(try await body(radio))
                } catch { return .failure(error) }
            }
        } catch { return .failure(error) }
    }
}
