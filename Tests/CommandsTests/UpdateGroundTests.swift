import Base
import Commands
import Families
import Foundation
import Testing
import Workbench

@testable import Radio
@testable import Yard

/// Which of the modules in reach an update is meant for.
@Suite struct UpdateGroundTests {
    private func module(_ serial: String, _ family: String, at address: String) throws
        -> DiscoveredModule
    {
        DiscoveredModule(
            serial: try #require(Serial(serial)),
            family: Family(rawValue: family),
            profiles: ["generic"],
            name: serial,
            signal: -60,
            lastSeen: Moment(nanoseconds: 0),
            peer: Peer(handle: address),
            isInBootloader: false
        )
    }

    /// The words of the refusal; nil when the modules with these serials are chosen.
    private func refusal(
        _ words: [String],
        _ heard: HeardModules,
        chooses serials: [String] = []
    ) throws -> String? {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../manifests/demo/city-4.12.0.zip").path
        guard case .run(let invocation) = try Parser.parse(["update", file] + words) else {
            throw UsageError.unknownCommand("update", nearest: nil)
        }
        let ground = try UpdateGround(
            try UpdateWish(invocation),
            try UpdateFile(file, version: nil),
            state: "/nowhere",
            ProfileLibrary.shipped
        )
        do throws(CommandError) {
            let chosen = try ground.chosen(from: ground.targets(heard))
            #expect(chosen.map(\.serial.text) == serials)
            return nil
        } catch { return error.text }
    }

    @Test func `two modules with one name are told apart by nobody, so neither is updated`() throws
    {
        var heard = HeardModules()
        heard.hear([try module("lamp", "nordic", at: "AA:00:00:00:00:01")])
        heard.hear([try module("lamp", "nordic", at: "AA:00:00:00:00:02")])
        heard.hear([try module("other", "nordic", at: "AA:00:00:00:00:03")])
        for words in [["lamp"], ["--all"], ["l*"], ["--address", "aa:00:00:00:00:02"]] {
            let words = try refusal(words, heard)
            #expect(
                words?.contains("lamp is heard from several addresses") == true,
                "\(words ?? "")"
            )
        }
        #expect(try refusal(["other"], heard, chooses: ["other"]) == nil)
    }

    @Test func `the serial of a maker is one module, whatever its address`() throws {
        var heard = HeardModules()
        heard.hear([try module("00a0000000000001", "comodule", at: "AA:00:00:00:00:01")])
        heard.hear([try module("00a0000000000001", "comodule", at: "AA:00:00:00:00:02")])
        #expect(try refusal(["--all"], heard, chooses: ["00a0000000000001"]) == nil)
    }
}
