import Base
import Radio
import Simulation

/// The addresses under which the world's devices appear, which may change over time.
struct AddressBook {
    private let world: World
    private let lifetime: Duration?
    private var renewals: [String: Int] = [:]

    init(_ world: World, lifetime: Duration?) {
        self.world = world
        self.lifetime = lifetime
    }

    /// The current address of the device with this address in the world.
    func shown(_ own: String) -> String {
        var number = renewals[own, default: 0]
        if let lifetime, lifetime > .zero {
            number += Int(world.now.nanoseconds / lifetime.nanoseconds)
        }
        guard number > 0 else { return own }
        return Self.mixed(own, number)
    }

    /// The device's name in the world, by which faults refer to it.
    func label(_ own: String) -> String? {
        world.device(named: own)?.label
    }

    /// Gives a module another address; false when no device has this name or address.
    mutating func renew(_ name: String) -> Bool {
        guard let own = world.address(of: name) else { return false }
        renewals[own, default: 0] += 1
        return true
    }

    /// A resolvable private address, as its two highest bits indicate.
    private static func mixed(_ own: String, _ number: Int) -> String {
        var random = SplitMix64(
            seed: own.utf8.reduce(UInt64(number)) { $0 &* 1_099_511_628_211 ^ UInt64($1) }
        )
        var bytes = (0..<6).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        bytes[0] = 0x40 | bytes[0] & 0x3F
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }
}
