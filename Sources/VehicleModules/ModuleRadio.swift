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
    /// The opening waits for an adapter, and scans and waits for a device for Bluetooth to be on, up to
    /// this time after the opening began.
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
    var cache = ModuleCache()
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
    /// `opening` says what to do when Bluetooth is off. `profiles` names a folder with profiles that
    /// are used in addition to the built-in ones, `models` has more of them, and `families` are those
    /// that the program brings along. `cache` names a file that keeps, for later programs, what is
    /// learned about modules and their last values, and no secrets. `log` gets each entry of the log.
    ///
    /// In simulated air time is virtual: wait with `pause` there,
    /// and start only tasks that are children of the body's. On BlueZ the body runs where it was
    /// called, and its radio may be used from any task until it ends.
    public static func on<R: Sendable>(
        _ air: ModuleAir,
        opening: RadioOpening = .now,
        profiles: String? = nil,
        models: [ModuleProfile] = [],
        families: [ModuleFamily] = [],
        cache: String? = nil,
        log: (@Sendable (ModuleLogEntry) -> Void)? = nil,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        let library = try Self.library(profiles, models, families)
        let logged: @Sendable (ModuleRadio) async throws -> R = { radio in
            radio.log(to: log)
            return try await radio.caching(in: cache, body)
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

    private static func library(
        _ folder: String?,
        _ models: [ModuleProfile],
        _ families: [ModuleFamily]
    ) throws(ModuleFailure) -> ProfileLibrary {
        var library = ProfileLibrary.shipped
        for family in families { library = try family.add(to: library) }
        let diagnostics = Diagnostics()
        for (index, model) in (families.flatMap(\.profiles) + models).enumerated() {
            library = library.adding(model.bytes, file: "model \(index + 1)", diagnostics)
        }
        if let folder {
            do throws(FileError) {
                library = try library.adding(folder: folder, diagnostics)
            } catch {
                throw ModuleFailure(.invalidFile, error.description, "name a folder of profiles")
            }
        }
        if diagnostics.hasErrors { throw ModuleFailure(diagnostics, in: folder ?? "a model") }
        return library
    }

    /// Runs `body` with a cache in the file at this path, where one is named.
    private func caching<R: Sendable>(
        in path: String?,
        _ body: @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        guard let path else { return try await body(self) }
        let log = log
        let file = ModuleCacheFile(path: path) { log.warning("\(name: $0)") }
        var radio = self
        radio.cache = ModuleCache(file: file)
        let cached = radio
        return try await file.whileWriting {
            await Self.attempt { try await body(cached) }
        }.get()
    }

    /// Waits for a duration of the air's time; in simulated air that takes no real time.
    public func pause(for duration: Duration) async {
        await time.sleep(for: duration, "the user of the library")
    }

    // MARK: Discovery

    /// Profiles of several families may recognise one module.
    private struct Heard: Hashable {
        let serial: Serial
        let family: Family
    }

    /// Scans for `duration`, or until a module with this serial is heard; returns all modules that
    /// were heard, sorted by serial.
    public func scan(
        for duration: Duration = .seconds(30),
        until serial: String? = nil
    ) async throws(ModuleFailure) -> [DiscoveredVehicleModule] {
        let discovery = discovery()
        let heard = Latest<[Heard: DiscoveredModule]>([:])
        do throws(DiscoveryProblem) {
            try await search(discovery, for: duration) { module in
                var all = heard.value
                all[Heard(serial: module.serial, family: module.family)] = module
                heard.set(all)
                return module.serial.text == serial?.lowercased()
            }
        } catch { throw ModuleFailure(error) }
        return heard.value.values
            .sorted { ($0.serial, $0.family.rawValue) < ($1.serial, $1.family.rawValue) }
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
                if isOff, await mayBeginAgain() { continue }
                // A scan that its program ends is no error.
                if error != .unexpected(.cancelled) { log.error("\(error)") }
                throw error
            }
        }
    }

    /// Whether what found Bluetooth off may begin again, because the radio was opened to wait; says
    /// so after a second.
    func mayBeginAgain() async -> Bool {
        guard time.now < patience, !Task.isCancelled else { return false }
        await time.sleep(for: .seconds(1), "Bluetooth to be switched on")
        return true
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

    /// The last values of a module's properties that this program has read, or an earlier one with
    /// the same `cache`, without a link; empty when nothing is remembered.
    ///
    /// Each is marked with the time when it was read, as `cached`.
    public func cachedProperties(of serial: String) -> [ModuleProperty] {
        guard let serial = Serial(serial), let module = cache[serial], let model = module.model,
            let profile = library.profile(model.profile, of: model.family)
        else { return [] }
        return profile.properties(variant: model.variant).compactMap { spec in
            module.readings[spec.name].flatMap { ModuleProperty(spec, $0) }
        }
    }

    /// Deletes what is remembered of modules, also in the file of the cache.
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
        let executor = try HostRadio.thread { () throws(ThreadError) in
            try ThreadExecutor.start(name: "simulated air")
        }
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
