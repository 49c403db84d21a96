import Base
import BlueZ
import Families
import Lab
import PrivateBus
import Radio
import Simulation

/// A locker as the example `OwnFamily` knows it: a module with SMP, and a service of its own.
final class SimulatedLocker: AirDevice {
    /// The module with SMP: its images, its restarts.
    ///
    /// It is heard and reached only through this one.
    private let inner: SMPModule
    private let world: World
    private let code: [UInt8]
    private var link: AirLink?
    private var greeting: [UInt8] = []
    private var isOpen = false
    private(set) var values: [UInt16: [UInt8]] = [
        1: [7, 0, 0, 0], 0x10: [0x2C, 0x01], 0x11: [0], 0x12: [1, 2, 3],
        0x13: Array("bay 3".utf8),
    ]
    /// How often it was opened with its code, and with another one.
    private(set) var (opened, refused) = (0, 0)

    private static let service = uuid("10c4e200-5ab1-4a6e-9d1b-3f0a5d2c7e10")
    private static let request = Characteristic(
        uuid("10c4e201-5ab1-4a6e-9d1b-3f0a5d2c7e10"),
        of: service
    )
    private static let reply = Characteristic(
        uuid("10c4e202-5ab1-4a6e-9d1b-3f0a5d2c7e10"),
        of: service
    )

    private static func uuid(_ text: String) -> GATTUUID {
        guard let uuid = GATTUUID(text) else { preconditionFailure("\(text) is no UUID") }
        return uuid
    }

    init(_ inner: SMPModule, in world: World, code: String) {
        self.inner = inner
        self.world = world
        self.code = Array(code.utf8)
        inner.signal = nil
        look()
    }

    /// The version that it runs.
    var version: String { inner.running.map { "\($0.version)" }.joined() }
    var isConfirmed: Bool { inner.isConfirmed }

    /// It is heard again soon after a restart.
    private func look() {
        world.after(.milliseconds(100)) { [weak self] in
            guard let self else { return }
            self.world.advertisingChanged(self)
            self.look()
        }
    }

    // MARK: On the air

    let label = "the locker"
    var linkParameters: LinkParameters { inner.linkParameters }

    var broadcast: Broadcast? {
        inner.signal = -55
        defer { inner.signal = nil }
        guard link == nil, var broadcast = inner.broadcast else { return nil }
        broadcast.services = [Self.service]
        return broadcast
    }

    var characteristics: [Characteristic: CharacteristicFlags] {
        inner.characteristics.merging([Self.request: .write, Self.reply: .notify]) { own, _ in own }
    }

    func acceptsConnection() -> Bool { inner.acceptsConnection() }

    func linkMade(_ link: AirLink) {
        self.link = link
        isOpen = false
        inner.linkMade(link)
    }

    func linkLost(_ link: AirLink) {
        self.link = nil
        inner.linkLost(link)
    }

    func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        inner.read(characteristic)
    }

    func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        guard characteristic == Self.request else {
            return inner.written(bytes, to: characteristic)
        }
        guard bytes.count >= 3 else { return .writeNotPermitted }
        let number = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
        link?.notify(
            [bytes[0] | 0x80] + answer(bytes[0], number, Array(bytes.dropFirst(3))),
            on: Self.reply
        )
        return nil
    }

    func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        characteristic == Self.reply ? nil : inner.subscribed(to: characteristic, on)
    }

    /// The status and the bytes of a reply.
    private func answer(_ kind: UInt8, _ number: UInt16, _ bytes: [UInt8]) -> [UInt8] {
        switch kind {
        case 1:
            greeting = (0..<4).map { _ in UInt8(truncatingIfNeeded: world.random.next()) }
            return [0] + greeting
        case 2:
            isOpen =
                !greeting.isEmpty
                && bytes == greeting.indices.map { greeting[$0] ^ code[$0 % code.count] }
            greeting = []
            if isOpen { opened += 1 } else { refused += 1 }
            return [isOpen ? 0 : 2]
        case 3 where isOpen: return values[number].map { [0] + $0 } ?? [1]
        case 4 where isOpen && number >= 0x10 && values[number]?.count == bytes.count:
            values[number] = bytes
            return [0]
        default: return [3]
        }
    }
}

/// One simulated locker, served as `org.bluez` on a private bus of its own.
struct ServedLocker {
    private let bus: PrivateBus
    private let served: FakeBlueZ

    var address: String { bus.address }

    init(code: String) async throws {
        bus = try PrivateBus()
        guard let address = BusAddress(bus.address) else { preconditionFailure("it has one") }
        served = try FakeBlueZ(address)
        let diagnostics = Diagnostics()
        let depot = """
            name: lockers
            modules:
              - {serial: LCK-0001, name: LCK-0001, family: mcumgr, version: "1.0.0", restart-time: 200ms,
                 activation-time: 200ms, erase-time: 2ms}

            """
        let tree = SourceNode.parse(Array(depot.utf8), file: "depot.yaml", diagnostics)
        guard
            let file = tree.flatMap({
                DepotFile.read($0, families: FamilyRegistry.simulated, diagnostics)
            })
        else { preconditionFailure("\(diagnostics.list)") }
        await served.arrange { world in
            try? SimulatedDepot.populate(world, file, nil)
            guard let module = world.devices.compactMap({ $0 as? SMPModule }).first else { return }
            world.add(SimulatedLocker(module, in: world, code: code))
        }
        try await served.start()
    }

    /// Looks at the locker.
    func look<R: Sendable>(_ body: @escaping @Sendable (SimulatedLocker) -> R) async -> R? {
        await served.arrange { world in
            world.devices.compactMap { $0 as? SimulatedLocker }.first.map(body)
        }
    }

    func close() async { await served.close() }
}
