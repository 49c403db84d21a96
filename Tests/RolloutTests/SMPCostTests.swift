import Base
import Families
import Glibc
import Images
import Radio
import Samples
import Simulation
import Synchronization
import Testing

/// The processor time of an upload over SMP, with a module that answers immediately.
@Suite struct SMPCostTests {
    @Test(arguments: [(244, 384), (495, 2_475)])
    func `an upload takes little of the processor`(length: Int, bufferSize: Int) throws {
        let file = try MCUbootFile.sample(size: 2 << 20)
        let link = ShortSMPLink(maximumLength: length, bufferSize: bufferSize)
        let simulation = Simulation(seed: 1)
        let (end, seconds) = try simulation.run {
            () async -> (Result<TransferEnd, ModuleError>, Double) in
            let client = SMPClient(link: link, time: simulation.time)
            let application = SMPApplication(
                client: client,
                time: simulation.time,
                family: .mcumgr
            )
            guard let serial = Serial("ym-0001") else { return (.failure(.radio(.timedOut)), 0) }
            let order = UpdateOrder(
                serial: serial,
                parts: [FirmwarePart(firmware: file.bytes)]
            )
            link.begin()
            let before = Self.processorSeconds
            let end: Result<TransferEnd, ModuleError>
            do throws(ModuleError) {
                end = .success(
                    try await application.transfer(
                        0,
                        of: order,
                        pace: 0,
                        from: .fresh,
                        unless: { false },
                        progress: { _ in }
                    )
                )
            } catch { end = .failure(error) }
            return (end, Self.processorSeconds - before - link.deviceSeconds)
        }
        #expect(try end.get() == .finished(linkHolds: true))
        let perMebibyte = seconds / Double(file.bytes.count) * Double(1 << 20)
        // Without optimisation the figure means little, so the limit shows only a gross mistake.
        #if DEBUG
        let limit = 5.0
        #else
        let limit = 0.05
        #endif
        #expect(perMebibyte <= limit, "\(perMebibyte) s of processor for each MiB")
        print("SMP, messages of \(bufferSize): \(perMebibyte) s of processor for each MiB")
    }

    /// The processor time of this thread, on which the whole simulation runs.
    fileprivate static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A link without air, directly to a module.
private final class ShortSMPLink: Link {
    private struct State {
        var server: SMPServer<VolatileMemory>
        var reassembly = SMPReassembly()
        var heard: [[UInt8]] = []
        /// The processor time of the module itself.
        var device = 0.0
    }

    private let state: Mutex<State>
    let maximumLength: Int

    init(maximumLength: Int, bufferSize: Int) {
        self.maximumLength = maximumLength
        var rules = SMPServerRules()
        rules.bufferSize = bufferSize
        let old = SMPServerFacts.Content(
            version: FirmwareVersion(1, 0),
            hash: [UInt8](repeating: 0xAA, count: 32)
        )
        state = Mutex(
            State(
                server: SMPServer(
                    rules: rules,
                    facts: SMPServerFacts(images: [.init(active: old)]),
                    memory: VolatileMemory(capacity: 4 << 20)
                )
            )
        )
    }

    func begin() { state.withLock { $0.device = 0 } }
    var deviceSeconds: Double { state.withLock { $0.device } }
    var peer: Peer { Peer(handle: "C0:00:00:00:00:02") }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        [.writeWithoutResponse, .notify]
    }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] { throw .att(.readNotPermitted) }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) { throw .att(.writeNotPermitted) }

    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        state.withLock { state in
            let began = SMPCostTests.processorSeconds
            if let frame = state.reassembly.take(bytes) {
                for case .reply(let bytes) in state.server.message(frame) {
                    for start in stride(from: 0, to: bytes.count, by: maximumLength) {
                        let end = min(start + maximumLength, bytes.count)
                        state.heard.append(Array(bytes[start..<end]))
                    }
                }
            }
            state.device += SMPCostTests.processorSeconds - began
        }
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription { Heard(link: self) }

    func disconnect() async {}

    fileprivate func take() throws(RadioError) -> [UInt8] {
        let bytes = state.withLock { $0.heard.isEmpty ? nil : $0.heard.removeFirst() }
        guard let bytes else { throw .timedOut }
        return bytes
    }

    private struct Heard: Subscription {
        let link: ShortSMPLink

        func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
            try link.take()
        }
    }
}
