import Base
import BlueZ
import Glibc
import Lab
import Radio
import RadioContract
import Simulation

/// The bench of the contract in the machine: incidents that code cannot cause are caused by the
/// shell.
struct RealBench: ContractBench {
    let host: BlueZ
    let time: any Timekeeper
    let air: Air

    var central: any Central { BlueZCentral("hci0", of: host) }
    var peripheral: any Peripheral { BlueZPeripheral("hci0", of: host) }

    /// The clauses that virtual controllers cannot test, with the reasons.
    static let reasons = [
        "a peer with a new address is found by what it advertises":
            "the address is the adapter's and stays",
        "a link that fails once can be tried again":
            "the virtual controllers make every link that is asked for",
    ]

    func cause(_ incident: ContractIncident) async {
        switch incident {
        case .adapterOff: shell("power hci0 false")
        case .adapterOn: shell("power hci0 true")
        case .stackRestart: shell("end_daemon; sleep 0.5; begin_daemon")
        case .peerLeaves: await peer { $0.inReach = false }
        case .peerReturns: await peer { $0.inReach = true }
        case .peerChangesAddress, .peerRefusesLinks: break
        case .visitorLeaves: await visitor { $0.leave() }
        case .visitorStopsLooking: await visitor { $0.isLooking = false }
        }
    }

    /// Restores the state for the beginning of a clause.
    func settle() async {
        await peer { $0.inReach = true }
        await visitor { $0.isLooking = true }
        shell("daemon_lives || begin_daemon; power hci0 true; forget_devices")
    }

    /// The error of a clause; nil when the clause holds.
    func problem(with clause: ContractClause) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                do {
                    try await clause.hold(on: self)
                    return nil
                } catch { return "\(error)" }
            }
            group.addTask {
                await time.sleep(for: .seconds(120), "the end of a clause")
                return "it takes more than 120 s"
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private func peer(_ change: @escaping @Sendable (ContractPeer) -> Void) async {
        await air.arrange { world in
            for case let peer as ContractPeer in world.devices { change(peer) }
        }
    }

    private func visitor(_ change: @escaping @Sendable (ContractVisitor) -> Void) async {
        await air.arrange { world in
            for case let visitor as ContractVisitor in world.visitors { change(visitor) }
        }
    }

    /// Runs shell commands with the functions of the machine's stage.
    private func shell(_ commands: String) {
        guard let pipe = popen("bash -c '. /yard/stage; \(commands)' >/dev/null 2>&1", "r") else {
            return say("no shell")
        }
        pclose(pipe)
    }
}

/// The machine's clock.
struct RealTime: Timekeeper {
    let loop: EventLoop

    var now: Moment { EventLoop.now }
    var wallTime: WallTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return WallTime(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
    }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let time = now.duration(to: deadline)
        let bell = AsyncStream<Void> { continuation in
            loop.perform { [loop] in
                _ = loop.schedule(after: max(.zero, time)) { continuation.finish() }
            }
        }
        for await _ in bell {}
    }
}

/// The actor that plays the rehearsal: its thread is occupied until the end.
actor Player {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(executor: ThreadExecutor) { self.executor = executor }

    func play(_ rehearsal: Rehearsal) {
        if case .failure(let error) = rehearsal.play(seed: nil, until: { false }) {
            say("the rehearsal cannot be played: \(error)")
            exit(1)
        }
    }
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}
