import Base
import Foundation
import Testing

@testable import Simulation

/// The flash of simulated modules in a file, beyond the end of a process.
@Suite struct DepotMemoryTests {
    private let path = FileManager.default.temporaryDirectory
        .appending(path: "depot-\(UUID().uuidString)").path(percentEncoded: false)

    private func slot(_ text: String) throws -> DepotSlot {
        let memory = try DepotMemory(path: path, imageCapacity: 10_000)
        let serial = try #require(Serial(text))
        try memory.reserve([serial])
        return try #require(memory.slot(of: serial))
    }

    /// A second opening of the file sees what a killed process would leave.
    @Test func `bytes that facts refer to are in the file`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let module = try slot("a1")
        var random = SplitMix64(seed: 9)
        var image = [UInt8](repeating: 0, count: 10_000)
        var expected = image
        for round in 1...60 {
            // Consecutive packets, as in a transfer, with a jump now and then.
            var place = random.below(9_000)
            for _ in 0..<random.below(30) {
                let packet = (0..<random.below(120)).map { _ in UInt8(random.below(256)) }
                guard place + packet.count <= image.count else { break }
                module.write(packet[...], at: place)
                image.replaceSubrange(place..<place + packet.count, with: packet)
                place += packet.count
                if random.below(9) == 0 { place = random.below(9_000) }
            }
            if random.below(3) == 0 {
                #expect(module.read(0..<10_000) == image)
            }
            guard random.below(2) == 0 else { continue }
            module.save([UInt8(round)], at: Moment(nanoseconds: Int64(round)))
            expected = image
            let other = try slot("a1")
            #expect(other.facts() == [UInt8(round)])
            #expect(other.read(0..<10_000) == expected)
        }
    }

    @Test func `buffered bytes go into the file when the slot is released`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        var module: DepotSlot? = try slot("a1")
        module?.write([1, 2, 3][...], at: 7)
        module = nil
        #expect(try slot("a1").read(6..<11) == [0, 1, 2, 3, 0])
    }
}
