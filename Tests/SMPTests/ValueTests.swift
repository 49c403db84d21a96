import Base
import Families
import Simulation
import Testing

/// Statistics, settings and files: the requests, and a device's answers.
@Suite struct SMPValueTests {
    private typealias Server = SMPServer<VolatileMemory>

    private func server(isVersion1: Bool = false) -> Server {
        var rules = SMPServerRules()
        rules.bufferSize = 128
        rules.isVersion1 = isVersion1
        var values = SMPServerValues()
        values.statistics = ["app": ["errors": 2]]
        values.saved = ["app/rate": [1, 0]]
        values.settings = values.saved
        values.files = ["/lfs1/mode": Array("quiet".utf8), "/lfs1/empty": []]
        let old = SMPServerFacts.Content(
            version: FirmwareVersion(1, 0),
            hash: [UInt8](repeating: 0xAA, count: 32)
        )
        return Server(
            rules: rules,
            facts: SMPServerFacts(images: [.init(active: old)], values: values),
            memory: VolatileMemory(capacity: 16_384)
        )
    }

    private func ask(_ server: inout Server, _ request: SMPRequest) throws -> SMPReply {
        let frame = try #require(SMPFrame(request.bytes(sequence: 7)))
        for case .reply(let bytes) in server.message(frame) {
            return try SMPReply(#require(SMPFrame(bytes)))
        }
        throw Silence()
    }

    private struct Silence: Error {}

    @Test func `a setting is kept over a restart only when it is saved`() throws {
        var server = server()
        func rate() throws -> [UInt8] {
            try SMPSetting(ask(&server, .readSetting("app/rate")).body).value
        }
        _ = try ask(&server, .writeSetting("app/rate", [2, 0]))
        #expect(try rate() == [2, 0])
        server.restarted()
        #expect(try rate() == [1, 0])
        _ = try ask(&server, .writeSetting("app/rate", [3, 0]))
        _ = try ask(&server, .commitSettings)
        _ = try ask(&server, .saveSettings)
        server.restarted()
        #expect(try rate() == [3, 0])
    }

    @Test(arguments: [false, true])
    func `what is not there is distinguished from what went wrong`(isVersion1: Bool) throws {
        var server = server(isVersion1: isVersion1)
        for request in [
            SMPRequest.statistics(group: "no"), .readSetting("no/rate"), .readFile("no", offset: 0),
            .writeSetting("no/rate", [1]),
        ] {
            #expect(try ask(&server, request).fault?.isAbsence == true, "\(request)")
        }
        let large = [UInt8](repeating: 7, count: 1_100)
        #expect(
            try ask(&server, .writeSetting("app/rate", large)).fault
                == .code(.noMemory, reason: nil)
        )
        if !isVersion1 {
            let fault = try ask(&server, .readFile("no", offset: 0)).fault
            #expect(fault?.description == "no such file")
        }
    }

    private func read(_ name: String, limit: Int = 512, from server: inout Server) throws
        -> SMPFileReading.Action
    {
        var machine = SMPFileReading(name, limit: limit)
        var action = machine.begin()
        while case .ask(let request) = action {
            action = machine.answered(try SMPFileContent(ask(&server, request).body))
        }
        return action
    }

    @Test(arguments: [0, 1, 57, 58, 200, 411])
    func `a file goes there and comes back whole, whatever its length`(length: Int) throws {
        var server = server()
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var machine = SMPFileWriting("/lfs1/mode", content, frameLength: 100)
        var action = machine.begin()
        var longest = 0
        while case .ask(let request) = action {
            longest = max(longest, request.bytes(sequence: 0).count)
            action = machine.answered(try SMPFileTaken(ask(&server, request).body))
        }
        #expect(action == .ended)
        #expect(longest <= 100)
        #expect(server.facts.values.files["/lfs1/mode"] == content)
        if length > 0 { #expect(try read("/lfs1/mode", from: &server) == .ended(content)) }
        #expect(
            try ask(&server, .readFile("/lfs1/empty", offset: 0)).fault
                == .group(SMPNumbers.Group.files, SMPValueCode.fileEmpty)
        )
    }

    @Test func `a file that is longer than what is read is not read`() throws {
        var server = server()
        #expect(
            try read("/lfs1/mode", limit: 4, from: &server) == .failed(.tooLong(5, limit: 4))
        )
    }

    @Test func `a device that stands at another byte gets the file from its beginning`() throws {
        let content = [UInt8](repeating: 1, count: 100)
        var machine = SMPFileWriting("a", content, frameLength: 80)
        guard case .ask(let first) = machine.begin() else { throw Silence() }
        let stray = try SMPFileTaken(CBORValue.map(["off": .int(3)]))
        #expect(machine.answered(stray) == .ask(first))
        #expect(machine.answered(stray) == .ask(first))
        guard case .failed(.wrongOffset(3, wanted: _)) = machine.answered(stray) else {
            Issue.record("it should be given up")
            return
        }
        var narrow = SMPFileWriting("a", content, frameLength: 40)
        #expect(narrow.begin() == .failed(.frameTooShort(40)))
    }

    @Test func `a device that sends a file strangely is not believed`() throws {
        func answer(_ offset: Int, _ data: [UInt8], _ length: Int?) throws -> SMPFileContent {
            try SMPFileContent(
                CBORValue.map([
                    "off": .int(offset), "data": .bytes(data), "len": length.map { .int($0) },
                ])
            )
        }
        var machine = SMPFileReading("a", limit: 100)
        #expect(machine.answered(try answer(0, [1], nil)) == .failed(.noLength))
        #expect(
            machine.answered(try answer(4, [1], 9)) == .failed(.wrongOffset(4, wanted: 0))
        )
        #expect(machine.answered(try answer(0, [1], 2)) == .ask(.readFile("a", offset: 1)))
        #expect(machine.answered(try answer(1, [], nil)) == .failed(.short(1, of: 2)))
        #expect(machine.answered(try answer(1, [2, 3, 4], nil)) == .ended([1, 2]))
    }
}
