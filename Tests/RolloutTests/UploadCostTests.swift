import Base
import Families
import Glibc
import Radio
import Simulation
import Synchronization
import Testing

/// The processor time of an upload, with a bootloader that answers immediately.
@Suite struct UploadCostTests {
    @Test func `an upload takes little of the processor`() throws {
        let size = 2 << 20
        let firmware = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        let digest = SHA256.digest(of: firmware)
        let packet = InitPacket(
            type: .application,
            applicationSize: UInt32(size),
            digest: digest
        )
        let part = FirmwarePart(initPacket: packet.serialized, firmware: firmware)
        let link = ShortLink(capacity: size)
        let simulation = Simulation(seed: 1)
        let (end, seconds) = try simulation.run {
            () async -> (Result<TransferEnd, ModuleError>, Double) in
            let receiver = SecureDFUReceiver(link: link, time: simulation.time)
            let order = UpdateOrder(serial: DepotBench.module(1).serial, parts: [part])
            let before = Self.processorSeconds
            let end: Result<TransferEnd, ModuleError>
            do throws(ModuleError) {
                end = .success(
                    try await receiver.transfer(
                        0,
                        of: order,
                        pace: 0,
                        from: .fresh,
                        unless: { false },
                        progress: { _ in }
                    )
                )
            } catch { end = .failure(error) }
            return (end, Self.processorSeconds - before)
        }
        #expect(try end.get() == .finished(linkHolds: false))
        #expect(link.isRunning)
        let perMebibyte = seconds / Double(size) * Double(1 << 20)
        // Without optimisation the figure means little, so the limit shows only a gross mistake.
        #if DEBUG
        let limit = 5.0
        #else
        let limit = 0.05
        #endif
        #expect(perMebibyte <= limit, "\(perMebibyte) s of processor for each MiB")
        print("Secure DFU: \(perMebibyte) s of processor for each MiB")
    }

    /// The processor time of this thread, on which the whole simulation runs.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A link without air, directly to a bootloader.
private final class ShortLink: Link {
    private struct State {
        var target: SecureDFUTarget<VolatileMemory>
        var heard: [[UInt8]] = []
        var isRunning = false

        mutating func note(_ actions: [SecureDFUAction]) {
            for action in actions {
                switch action {
                case .notify(let bytes): heard.append(bytes)
                case .restart(let activate): isRunning = activate
                case .erase: continue
                }
            }
        }
    }

    private let state: Mutex<State>

    init(capacity: Int) {
        state = Mutex(
            State(
                target: SecureDFUTarget(
                    memory: VolatileMemory(capacity: capacity),
                    sha256: SHA256.digest
                )
            )
        )
    }

    var isRunning: Bool { state.withLock { $0.isRunning } }
    var peer: Peer { Peer(handle: "C0:00:00:00:00:01") }
    var maximumLength: Int { 244 }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? { nil }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] { throw .att(.readNotPermitted) }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        state.withLock { $0.note($0.target.controlPointWritten(bytes) ?? []) }
    }

    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        state.withLock { $0.note($0.target.packetWritten(bytes)) }
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        state.withLock { $0.target.notificationsSwitched(on: true) }
        return Heard(link: self)
    }

    func disconnect() async {}

    fileprivate func take() throws(RadioError) -> [UInt8] {
        let bytes = state.withLock { $0.heard.isEmpty ? nil : $0.heard.removeFirst() }
        guard let bytes else { throw .timedOut }
        return bytes
    }

    private struct Heard: Subscription {
        let link: ShortLink

        func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
            try link.take()
        }
    }
}
