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
            let name = try await Self.adapter(adapter, of: radio)
            let lent = ModuleRadio(
                central: BlueZCentral(name, of: radio),
                peripheral: BlueZPeripheral(name, of: radio),
                time: clock,
                library: library
            )
            result = .success(try await body(lent))
        } catch { result = .failure(error) }
        await radio.close()
        return try result.get()
    }

    private static func thread<T>(
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
    private static func adapter(
        _ wanted: String?,
        of radio: BlueZ
    ) async throws(ModuleFailure) -> String {
        let found: [AdapterReport]
        do throws(RadioError) {
            found = try await radio.survey()
        } catch { throw ModuleFailure(DiscoveryProblem(error)) }
        guard let wanted else {
            if let first = found.first(where: \.isPowered) { return first.name }
            throw ModuleFailure(
                DiscoveryProblem(found.isEmpty ? .adapterMissing : .adapterOff)
            )
        }
        let named = found.first {
            $0.name == wanted || $0.address.lowercased() == wanted.lowercased()
        }
        guard let named else { throw ModuleFailure(DiscoveryProblem(.adapterMissing)) }
        guard named.isPowered else { throw ModuleFailure(DiscoveryProblem(.adapterOff)) }
        return named.name
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
