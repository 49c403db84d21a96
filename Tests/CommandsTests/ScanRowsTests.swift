import Base
import Manifest
import Rollout
import Show
import Testing

@testable import Radio
@testable import Yard

/// The fleet list that `scan --csv` prints.
@Suite struct ScanRowsTests {
    private func module(
        _ serial: String,
        _ family: String,
        _ name: String,
        at address: String = ""
    ) throws -> DiscoveredModule {
        DiscoveredModule(
            serial: try #require(Serial(serial)),
            family: Family(rawValue: family),
            profiles: ["generic"],
            name: name,
            signal: -60,
            lastSeen: Moment(nanoseconds: 0),
            peer: Peer(handle: address),
            isInBootloader: false
        )
    }

    private func rows(_ modules: [DiscoveredModule]) throws -> ScanRows {
        var heard = HeardModules()
        for module in modules { heard.hear([module]) }
        return ScanRows(heard)
    }

    private func read(_ csv: String) throws -> [String] {
        let manifest = "name: n\nvehicles: {from: f.csv}\nsteps: [{wait: 1s}]\n"
        let read = try ManifestReader.read(Array(manifest.utf8), path: "m.yaml") {
            _,
            _ throws(FileError) in Array(csv.utf8)
        }
        #expect(read.diagnostics.isEmpty, "\(read.diagnostics)")
        let plan = try #require(read.plan)
        #expect(JobBuilder(plan).mistakes.isEmpty)
        return plan.vehicles.map { "\($0.id) \($0.serial) \($0.family.rawValue)/\($0.profile)" }
    }

    @Test func `the rows of a scan are a fleet list`() throws {
        let found = try rows([
            module("0011223344556677", "comodule", "Comodule module"),
            module("00112233445566aa", "comodule", "Bike, \"7\"; blue"),
            module("001122334455", "lrdevice", "=HYPERLINK(1)"),
            module("aa:bb:cc:dd:ee:01", "esp", "+372"),
            module("scooter", "mcumgr", "Scooter"),
            module("s;1", "nordic", "Twin"),
            module("s2", "nordic", "Twin"),
            module("s3", "mcumgr", "1.5E+11"),
            module("s4", "mcumgr", "S3"),
        ])
        #expect(found.remarks.isEmpty)
        #expect(
            try read(found.csv) == [
                "001122334455 001122334455 lrdevice/generic",
                "0011223344556677 0011223344556677 comodule/generic",
                "Bike, \"7\"; blue 00112233445566aa comodule/generic",
                "aa:bb:cc:dd:ee:01 aa:bb:cc:dd:ee:01 esp/generic",
                "s2 s2 nordic/generic", "s3 s3 mcumgr/generic", "s4 s4 mcumgr/generic",
                "s;1 s;1 nordic/generic", "Scooter scooter mcumgr/generic",
            ]
        )
    }

    @Test func `a module that nothing identifies has no row and is named`() throws {
        let found = try rows([
            module("zephyr", "mcumgr", "Zephyr", at: "AA:00"),
            module("zephyr", "mcumgr", "Zephyr", at: "AA:01"),
            module("both", "mcumgr", "Both"), module("both", "nordic", "Both"),
            module("1.5e+11", "mcumgr", "1.5E+11"), module("a=b", "mcumgr", "A=B"),
            module("00112233445566aa", "comodule", "Bike", at: "AA:02"),
            module("00112233445566aa", "comodule", "Bike", at: "AA:03"),
        ])
        #expect(try read(found.csv) == ["Bike 00112233445566aa comodule/generic"])
        #expect(
            found.remarks.map { $0.prefix { $0 != ":" } } == [
                "no row for 1.5e+11 of family mcumgr", "no row for a=b of family mcumgr",
                "no row for both of family mcumgr", "no row for both of family nordic",
                "no row for zephyr of family mcumgr",
            ]
        )
    }
}
