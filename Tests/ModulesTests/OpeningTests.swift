import Base
import Families
import Radio
import Simulation
import Testing

@testable import VehicleModules

/// A radio that is opened while the host's Bluetooth is off, in simulated air.
@Suite struct OpeningTests {
    private static func radio(_ bench: ModuleBench, _ opening: RadioOpening) -> ModuleRadio {
        ModuleRadio(
            central: bench.central,
            peripheral: bench.central,
            time: bench.time,
            library: .shipped,
            opening: opening
        )
    }

    private static let secret = ModuleSecret(ModuleBench.keyText)

    @Test func `what was opened to wait scans and connects once Bluetooth is on`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            await bench.simulation.air.setPower("hci0", on: false)
            let radio = Self.radio(bench, .wait(upTo: .seconds(60)))
            let serial = ModuleBench.serial(1).text
            let seen = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await bench.time.sleep(for: .seconds(20), "somebody to switch it on")
                    await bench.simulation.air.setPower("hci0", on: true)
                }
                async let found = radio.withDiscovery { discovery in
                    for try await list in discovery.lists where !list.isEmpty { return list }
                    return []
                }
                let seen = try await radio.withConnection(serial, secret: Self.secret) {
                    connection in
                    var seen: [ModuleConnectionState] = []
                    for await state in connection.states {
                        seen.append(state)
                        if case .connected = state { break }
                    }
                    return seen
                }
                let serials = try await found.map(\.serial)
                #expect(serials == [serial])
                return seen
            }
            let isOff = seen.contains { state in
                if case .connecting(_, serial, .bluetoothOff) = state { true } else { false }
            }
            #expect(isOff)
            #expect(!radio.logEntries.contains { $0.level == .error })
        }
    }

    @Test func `what was not, and what waited in vain, fails with the reason`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            await bench.simulation.air.setPower("hci0", on: false)
            for (opening, least) in [(RadioOpening.now, 0), (.wait(upTo: .seconds(10)), 10)] {
                let radio = Self.radio(bench, opening)
                let began = bench.time.now
                try await radio.withDiscovery { discovery in
                    var failures: [ModuleFailure.Code] = []
                    for await failure in discovery.failures { failures.append(failure.code) }
                    #expect(failures == [.bluetoothDisabled])
                    #expect(discovery.failure?.code == .bluetoothDisabled)
                    for await isScanning in discovery.scanning { #expect(!isScanning) }
                }
                let time = began.duration(to: bench.time.now)
                #expect(time >= .seconds(least) && time < .seconds(least + 2), "\(time)")
                #expect(radio.logEntries.last?.level == .error)
            }
        }
    }

    @Test func `a device that connects to us is waited for, too`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            await bench.simulation.air.setPower("hci0", on: false)
            let socket = try SocketConfiguration(service: "0574583B-0D8D-2962-4D79-0F43EEB96C98")
            try await Self.radio(bench, .now).withSocket(socket) { socket in
                let states = await Self.all(socket.states)
                #expect(states.last?.failure?.code == .bluetoothDisabled, "\(states)")
            }
            let began = bench.time.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await bench.time.sleep(for: .seconds(20), "somebody to switch it on")
                    await bench.simulation.air.setPower("hci0", on: true)
                }
                let radio = Self.radio(bench, .wait(upTo: .seconds(60)))
                try await radio.withSocket(socket, timeout: .seconds(5)) { socket in
                    let states = await Self.all(socket.states)
                    #expect(states.contains(.advertising), "\(states)")
                    #expect(states.last?.failure?.code == .timedOut, "\(states)")
                }
            }
            let time = began.duration(to: bench.time.now)
            #expect(time >= .seconds(25) && time < .seconds(28), "\(time)")
        }
    }

    private static func all(_ states: AsyncStream<SocketState>) async -> [SocketState] {
        var all: [SocketState] = []
        for await state in states { all.append(state) }
        return all
    }
}

extension SocketState {
    fileprivate var failure: ModuleFailure? {
        if case .closed(let failure) = self { failure } else { nil }
    }
}
