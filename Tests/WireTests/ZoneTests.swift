import Base
import Foundation
import Testing

@Suite struct ZoneTests {
    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)")))
    }

    @Test(
        arguments: [
            "Europe/Tallinn", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo",
            "Asia/Kolkata", "Pacific/Apia", "Africa/Casablanca", "Europe/Dublin", "UTC",
            "America/Nuuk", "Asia/Gaza",
        ]
    ) func `offsets agree with another reader's from 1960 to 2200`(name: String) throws {
        let zone = try Zone(try bytes(name))
        let other = try #require(TimeZone(identifier: name))
        var random = SplitMix64(seed: 4)
        for _ in 0..<2_000 {
            let time = Int64(random.below(7_573_000_000)) - 315_619_200
            let date = Date(timeIntervalSince1970: TimeInterval(time))
            // The rules of the other reader end in 2037.
            guard time < 2_140_000_000 else {
                #expect((-50_400...50_400).contains(zone.offset(at: time)))
                continue
            }
            #expect(zone.offset(at: time) == other.secondsFromGMT(for: date), "\(name) \(date)")
        }
    }

    @Test func `the rule at the end holds forever`() throws {
        let zone = try Zone(try bytes("Europe/Tallinn"))
        // Summer and winter of 2526, and the change of 25 March 2525.
        #expect(zone.offset(at: 17_560_000_000) == 10_800)
        #expect(zone.offset(at: 17_577_000_000) == 7_200)
        #expect(zone.offset(at: .max) == 7_200)
        #expect(zone.offset(at: .min) != 0)
    }

    @Test func `local times come back, one that is left out and one that comes twice too`() throws {
        let zone = try Zone(try bytes("Europe/Tallinn"))
        // 03:30 is skipped on 29 March 2026: the result is half an hour after the skipped 03:00.
        #expect(zone.moment(ofLocal: 1_774_755_000) == 1_774_747_800)
        // 03:30 occurs twice on 25 October 2026: the result is the first.
        #expect(zone.moment(ofLocal: 1_792_899_000) == 1_792_888_200)
        var random = SplitMix64(seed: 9)
        for _ in 0..<2_000 {
            let local = Int64(random.below(2_000_000_000))
            let moment = zone.moment(ofLocal: local)
            let shown = moment + Int64(zone.offset(at: moment))
            #expect(shown == local || shown == local + 3_600)
        }
    }

    @Test func `what is no zone file is an error and never a trap`() throws {
        #expect(throws: ZoneError.notAZoneFile) { try Zone([]) }
        #expect(throws: ZoneError.notAZoneFile) { try Zone(Array("TZiX2".utf8)) }
        let whole = try bytes("Europe/Tallinn")
        for count in 4..<whole.count - 1 {
            #expect(throws: ZoneError.self, "\(count) bytes") { try Zone(Array(whole[..<count])) }
        }
        var random = SplitMix64(seed: 1)
        for _ in 0..<3_000 {
            var broken = whole
            for _ in 0...random.below(4) {
                broken[random.below(broken.count)] = UInt8(random.below(256))
            }
            guard let zone = try? Zone(broken) else { continue }
            for time in [Int64.min, -1, 0, 1_774_755_000, 1 << 41, Int64.max] {
                _ = zone.offset(at: time)
                _ = zone.moment(ofLocal: time)
            }
        }
    }
}
