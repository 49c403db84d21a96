import Base
import BlueZ
import PrivateBus
import Radio
import RadioContract
import ScriptedHost
import Testing

/// A private bus with a scripted bluetoothd, and our radio connected to that bus.
struct ScriptedBench: ContractBench {
    let daemon: PrivateBus
    let fake: ScriptedBlueZ
    let host: BlueZ

    var central: any Central { BlueZCentral("hci0", of: host) }
    var peripheral: any Peripheral { BlueZPeripheral("hci0", of: host) }
    var time: any Timekeeper { LoopTime(loop: fake.loop) }

    func cause(_ incident: ContractIncident) async {
        switch incident {
        case .adapterOff: await fake.power(false)
        case .adapterOn: await fake.power(true)
        case .stackRestart:
            await fake.stop()
            try? await fake.start()
        case .peerLeaves: await fake.setReach(false)
        case .peerReturns: await fake.setReach(true)
        case .peerChangesAddress: await fake.changeAddress()
        case .peerRefusesLinks(let count):
            await fake.change {
                $0.connecting = Array(
                    repeating: .refused("le-connection-abort-by-local"),
                    count: count
                )
            }
        case .visitorLeaves: await fake.endVisit()
        case .visitorStopsLooking: await fake.setLooking(false)
        }
    }

    static func with<R>(
        _ settings: BlueZSettings = BlueZSettings(),
        _ body: (ScriptedBench) async throws -> R
    ) async throws -> R {
        FairTime.begin()
        let daemon = try PrivateBus()
        guard let address = BusAddress(daemon.address) else { throw BusError.disconnected }
        let fake = try ScriptedBlueZ(address)
        try await fake.start()
        let host = try BlueZ(address, settings: settings)
        let bench = ScriptedBench(daemon: daemon, fake: fake, host: host)
        let result: Result<R, any Error>
        do { result = .success(try await body(bench)) } catch { result = .failure(error) }
        await host.close()
        await fake.close()
        return try result.get()
    }
}

@Suite(.timeLimit(.minutes(5))) struct BlueZContractTests {
    @Test(arguments: RadioContract.clauses)
    func `BlueZ keeps the contract of every radio`(clause: ContractClause) async throws {
        try await ScriptedBench.with { try await clause.hold(on: $0) }
    }
}
