import Base
import BlueZ
import CLinux
import Glibc
import Radio

/// Lends the host's Bluetooth for as long as a program needs it.
enum HostRadio {
    /// Opens the adapter and lends it; afterwards ends links, scans and threads, even if `body`
    /// throws.
    static func lend<R: Sendable>(
        adapter: String?,
        bus: String?,
        links: String?,
        opening: RadioOpening,
        _ library: ProfileLibrary,
        _ body: (ModuleRadio) async throws -> R
    ) async throws -> R {
        let address: BusAddress
        if let bus {
            guard let named = BusAddress(bus) else {
                throw ModuleFailure(
                    .bluetoothNotSupported,
                    "the address of the bus is empty",
                    "give one such as unix:path=/run/dbus/system_bus_socket, or none"
                )
            }
            address = named
        } else {
            address = .system { name in getenv(name).flatMap { String(validatingCString: $0) } }
        }
        let clock = HostClock(
            loop: try thread { () throws(ThreadError) in
                try EventLoop.start(name: "clock")
            }
        )
        defer { clock.loop.stop() }
        var kept = BlueZSettings()
        if let links { kept.memory = LinkFile(path: links) }
        let settings = kept
        let radio = try thread { () throws(ThreadError) in try BlueZ(address, settings: settings) }
        let result: Result<R, any Error>
        do {
            let name = try await Self.adapter(adapter, of: radio, opening, clock)
            let lent = ModuleRadio(
                central: BlueZCentral(name, of: radio),
                peripheral: BlueZPeripheral(name, of: radio),
                time: clock,
                library: library,
                opening: opening
            )
            result = .success(try await body(lent))
        } catch { result = .failure(error) }
        await radio.close()
        return try result.get()
    }

    static func thread<T>(
        _ start: () throws(ThreadError) -> T
    ) throws(ModuleFailure) -> T {
        do throws(ThreadError) { return try start() } catch {
            throw ModuleFailure(
                .unexpected,
                "no thread for the radio: \(error)",
                "look at the limits of this process"
            )
        }
    }

    /// The adapter of this name or address, or else the first one that is switched on.
    ///
    /// Where the opening may wait, it is waited for, and may be switched off.
    private static func adapter(
        _ wanted: String?,
        of radio: BlueZ,
        _ opening: RadioOpening,
        _ clock: HostClock
    ) async throws(ModuleFailure) -> String {
        let patience = clock.now.advanced(by: opening.patience)
        while true {
            do throws(RadioError) {
                let found = try await radio.survey().filter { adapter in
                    guard let wanted else { return true }
                    return adapter.name == wanted
                        || adapter.address.lowercased() == wanted.lowercased()
                }
                if let first = found.first(where: \.isPowered) { return first.name }
                guard let first = found.first else { throw RadioError.adapterMissing }
                guard opening != .now else { throw RadioError.adapterOff }
                return first.name
            } catch {
                guard clock.now < patience, !Task.isCancelled, error != .unauthorized else {
                    throw ModuleFailure(DiscoveryProblem(error))
                }
                await clock.sleep(for: .seconds(1), "an adapter")
            }
        }
    }
}

/// The clocks of this host.
private struct HostClock: Timekeeper {
    let loop: EventLoop

    var now: Moment { EventLoop.now }

    var wallTime: WallTime {
        WallTime(milliseconds: clock_nanoseconds(CLOCK_REALTIME) / 1_000_000)
    }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        await loop.wait(for: now.duration(to: deadline))
    }
}
