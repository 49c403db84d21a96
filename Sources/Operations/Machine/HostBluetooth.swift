package import Base
package import BlueZ
package import Commands
import Glibc
package import Radio

/// The host's own Bluetooth, opened for one command.
package struct HostBluetooth {
    package let radio: BlueZ
    package let time: RealClock

    /// Opens the bus that the flag or the environment names, or else the machine's.
    package static func open(
        bus: String?,
        state: String?,
        _ context: Context,
        provesSubscriptions: Bool = true,
        note: @escaping @Sendable (BlueZNote) -> Void = { _ in }
    ) throws(CommandError) -> HostBluetooth {
        _ = try context.reach.demandWorld()
        let address = bus.flatMap { BusAddress($0) } ?? .system(environment: context.variable)
        var settings = BlueZSettings()
        settings.note = note
        settings.provesSubscriptions = provesSubscriptions
        if let state { settings.memory = LinkFile(path: state + "/links", bonds: state + "/bonds") }
        do throws(ThreadError) {
            let time = RealClock(loop: try EventLoop.start(name: "clock"))
            return HostBluetooth(
                radio: try BlueZ(address, settings: settings),
                time: time
            )
        } catch {
            throw CommandError(.unavailable, "no thread for the radio", because: ["\(error)"])
        }
    }

    /// Lends the first working adapter while `body` runs.
    package static func use<R: Sendable>(
        bus: String?,
        state: String? = nil,
        adapters wanted: [String] = [],
        _ context: Context,
        _ body: (any Central, any Timekeeper) async -> Result<R, CommandError>
    ) async throws(CommandError) -> R {
        let site = try open(bus: bus, state: state, context)
        let result: Result<R, CommandError>
        do throws(CommandError) {
            let adapter = try await site.adapters(named: wanted)[0]
            result = await body(BlueZCentral(adapter, of: site.radio), site.time)
        } catch {
            result = .failure(error)
        }
        await site.close()
        return try result.get()
    }

    package func close() async {
        await radio.close()
        time.loop.stop()
    }

    /// The adapters that a plan names, or the first that is switched on; all must work.
    func adapters(named names: [String]) async throws(CommandError) -> [String] {
        let found: [AdapterReport]
        do throws(RadioError) {
            found = try await radio.survey()
        } catch {
            throw Self.refusal([error.description])
        }
        guard !names.isEmpty else {
            guard let first = found.first(where: \.isPowered) else {
                throw Self.refusal([
                    found.isEmpty
                        ? "this host has no Bluetooth adapter" : "no adapter is switched on"
                ])
            }
            return [first.name]
        }
        var taken: [String: String] = [:]
        for name in names {
            let adapter = found.first {
                $0.name == name || $0.address.lowercased() == name.lowercased()
            }
            guard let adapter else {
                let all = found.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
                throw Self.refusal([
                    "there is no adapter \(name)",
                    all.isEmpty ? "this host has none" : "this host has \(all)",
                ])
            }
            guard adapter.isPowered else {
                throw Self.refusal(["the adapter \(name) is switched off"])
            }
            if let other = taken.updateValue(name, forKey: adapter.name) {
                throw Self.refusal(["\(other) and \(name) are one adapter"])
            }
        }
        return names
    }

    private static func refusal(_ causes: [String]) -> CommandError {
        CommandError(
            .unavailable,
            "Bluetooth cannot be used",
            because: causes,
            hint: "yardmaster doctor shows what to do; --simulate DEPOT.yaml needs no Bluetooth"
        )
    }
}

/// The machine's clocks, for everything that waits.
package struct RealClock: Timekeeper {
    package let loop: EventLoop

    package init(loop: EventLoop) { self.loop = loop }

    package var now: Moment { RealTime().now }
    package var wallTime: WallTime { RealTime().wallTime }

    package func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        await loop.wait(for: now.duration(to: deadline))
    }
}
