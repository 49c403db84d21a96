import Base
import Families
import Images
import Samples
import Simulation
import Testing

/// The simulated device answers like a real Zephyr 4.4 device with MCUboot.
@Suite struct SMPServerTests {
    private typealias Server = SMPServer<VolatileMemory>

    private static let image = (try? MCUbootFile.sample(size: 2_000).bytes) ?? []

    private func server(
        images: Int = 1,
        _ adjust: (inout SMPServerRules) -> Void = { _ in }
    ) -> Server {
        var rules = SMPServerRules()
        rules.bufferSize = 384
        adjust(&rules)
        let running = SMPServerFacts.Content(
            version: FirmwareVersion(0, 0),
            hash: [UInt8](repeating: 0xAA, count: 32)
        )
        return Server(
            rules: rules,
            facts: SMPServerFacts(
                images: [SMPServerFacts.Image](
                    repeating: SMPServerFacts.Image(active: running),
                    count: images
                )
            ),
            memory: VolatileMemory(capacity: images * 16_384)
        )
    }

    @discardableResult
    private func ask(_ server: inout Server, _ request: SMPRequest, version: UInt8 = 1) -> SMPReply?
    {
        guard let frame = SMPFrame(request.bytes(version: version, sequence: 7)) else { return nil }
        return reply(&server, frame)
    }

    private func ask(
        _ server: inout Server,
        _ operation: SMPHeader.Operation,
        group: UInt16 = 1,
        command: UInt8 = 1,
        version: UInt8 = 1,
        _ body: CBORValue
    ) -> SMPReply? {
        SMPFrame(
            operation,
            version: version,
            group: group,
            command: command,
            sequence: 9,
            payload: body.serialized
        ).flatMap { reply(&server, $0) }
    }

    private func reply(_ server: inout Server, _ frame: SMPFrame) -> SMPReply? {
        for case .reply(let bytes) in server.message(frame) {
            let reply = SMPFrame(bytes).flatMap { try? SMPReply($0) }
            #expect(reply?.header.sequence == frame.header.sequence)
            return reply
        }
        return nil
    }

    private func chunk(
        _ offset: Int,
        _ count: Int,
        of image: [UInt8] = image,
        length: Int? = nil,
        sha: [UInt8]? = nil,
        number: Int = 0
    ) -> SMPRequest {
        .upload(
            SMPChunk(
                offset: offset,
                data: image[offset..<min(offset + count, image.count)],
                opening: offset == 0
                    ? .init(image: number, length: length ?? image.count, sha: sha) : nil
            )
        )
    }

    @discardableResult
    private func upload(
        _ server: inout Server,
        _ image: [UInt8] = image,
        number: Int = 0
    ) -> SMPReply? {
        var last: SMPReply?
        for offset in stride(from: 0, to: image.count, by: 256) {
            last = ask(&server, chunk(offset, 256, of: image, number: number))
        }
        return last
    }

    private func offset(_ reply: SMPReply?) -> Int? { reply?.body["off"]?.integer }

    private func hash(_ bytes: [UInt8]) throws -> [UInt8] { try MCUbootImage(bytes).hash }

    // MARK: Questions

    @Test func `it tells its buffers`() throws {
        var server = server()
        let reply = try #require(ask(&server, .parameters))
        #expect(try SMPParameters(reply.body) == SMPParameters(bufferSize: 384, bufferCount: 4))
    }

    @Test func `a device without it has no word on its bootloader`() {
        var server = server { $0.tellsBootloader = false }
        let reply = ask(&server, .bootloaderInfo(query: "mode"))
        #expect(reply?.fault == .code(.notSupported, reason: nil))
    }

    @Test(arguments: [UInt8(0), 1], [(UInt16(42), UInt8(0)), (0, 99), (1, 99)])
    func `an unknown group or command is not supported`(version: UInt8, call: (UInt16, UInt8)) {
        var server = server()
        let reply = ask(
            &server,
            .read,
            group: call.0,
            command: call.1,
            version: version,
            .map([])
        )
        #expect(reply?.fault == .code(.notSupported, reason: nil))
        #expect(reply?.header.version == version)
    }

    @Test(arguments: [UInt8(2), 3]) func `a version to come is too new`(version: UInt8) {
        var server = server()
        let reply = ask(&server, .read, group: 0, command: 6, version: version, .map([]))
        #expect(reply?.fault == .code(.versionTooNew, reason: nil))
    }

    @Test func `what is no CBOR is invalid`() throws {
        var server = server()
        let frame = try #require(
            SMPFrame(.read, version: 1, group: 1, command: 0, sequence: 3, payload: [0xBF])
        )
        #expect(reply(&server, frame)?.fault == .code(.invalid, reason: nil))
    }

    @Test func `open lengths are read as closed ones`() throws {
        for isOpen in [true, false] {
            var server = server { $0.hasOpenLengths = isOpen }
            let reply = try #require(ask(&server, .imageState))
            let list = try SMPImageList(reply.body)
            #expect(list.images.count == 1)
            #expect(list.active(0)?.flags == [.bootable, .active, .confirmed])
        }
    }

    // MARK: Upload

    @Test(arguments: [
        ("no length", 21), ("16 bytes", 22), ("wrong magic", 23), ("too long", 30),
        ("long digest", 24), ("no offset", 20),
    ])
    func `an upload that begins wrongly is refused`(what: String, code: Int) {
        var server = server()
        let data = CBORValue.bytes(Array(Self.image[..<64]))
        let body: CBORValue =
            switch what {
            case "no length": .map(["off": .int(0), "data": data])
            case "16 bytes":
                .map([
                    "off": .int(0), "len": .int(2_000),
                    "data": .bytes(Array(Self.image[..<16])),
                ])
            case "wrong magic":
                .map([
                    "off": .int(0), "len": .int(2_000),
                    "data": .bytes([UInt8](repeating: 1, count: 64)),
                ])
            case "too long": .map(["off": .int(0), "len": .int(20_000), "data": data])
            case "long digest":
                .map([
                    "off": .int(0), "len": .int(2_000), "data": data,
                    "sha": .bytes([UInt8](repeating: 1, count: 40)),
                ])
            default: .map(["len": .int(2_000), "data": data])
            }
        let fault = ask(&server, .write, body)?.fault
        #expect(fault == .image(SMPImageCode(rawValue: code)))
    }

    @Test func `in the first version an error is a number and words`() {
        var server = server()
        let body: CBORValue = .map([
            "off": .int(0), "len": .int(2_000), "data": .bytes([UInt8](repeating: 1, count: 64)),
        ])
        let reply = ask(&server, .write, version: 0, body)
        guard case .code(.unknown, .some(let words)) = reply?.fault else {
            Issue.record("\(String(describing: reply))")
            return
        }
        #expect(words.contains("magic"))
    }

    @Test(arguments: [1, 3]) func `with one image any number is taken for it`(number: Int) {
        var server = server()
        #expect(offset(ask(&server, chunk(0, 256, number: number))) == 256)
    }

    @Test(arguments: [100, 1_000]) func `another offset than the next writes nothing`(wrong: Int) {
        var server = server()
        ask(&server, chunk(0, 256))
        #expect(offset(ask(&server, chunk(wrong, 128))) == 256)
        #expect(server.received == 256)
    }

    @Test func `the same digest and length go on, another digest begins again`() {
        var server = server()
        let sha = [UInt8](repeating: 7, count: 32)
        ask(&server, chunk(0, 256, sha: sha))
        ask(&server, chunk(256, 256))
        #expect(offset(ask(&server, chunk(0, 256, sha: sha))) == 512)
        #expect(offset(ask(&server, chunk(0, 200, sha: Array(sha[..<8])))) == 200)
    }

    @Test(arguments: [false, true])
    func `an erase ends the upload, but for a fault of old devices`(isOld: Bool) {
        var server = server { $0.resumesIntoErased = isOld }
        let sha = [UInt8](repeating: 7, count: 32)
        ask(&server, chunk(0, 256, sha: sha))
        ask(&server, chunk(256, 256))
        #expect(ask(&server, .erase(slot: nil))?.fault == nil)
        #expect(offset(ask(&server, chunk(0, 256, sha: sha))) == (isOld ? 512 : 256))
    }

    @Test func `a restart in mid-upload forgets it`() {
        var server = server()
        let sha = [UInt8](repeating: 7, count: 32)
        ask(&server, chunk(0, 256, sha: sha))
        ask(&server, chunk(256, 256))
        server.restarted()
        #expect(offset(ask(&server, chunk(0, 256, sha: sha))) == 256)
    }

    @Test func `nothing is taken while an image is tried`() throws {
        var server = server()
        upload(&server)
        ask(&server, .setState(hash: try hash(Self.image), isConfirmed: false))
        server.restarted()
        #expect(ask(&server, chunk(0, 256))?.fault == .image(.noFreeSlot))
    }

    @Test func `only the slot that is free is erased`() {
        var server = server()
        #expect(ask(&server, .erase(slot: 0))?.fault == .image(.noFreeSlot))
        #expect(ask(&server, .erase(slot: 9))?.fault == .image(.flashOpen))
        #expect(ask(&server, .erase(slot: 1))?.fault == nil)
    }

    // MARK: State

    @Test func `a mark needs the hash of an image that is there and does not run`() {
        var server = server()
        upload(&server)
        let wrong = [UInt8](repeating: 3, count: 32)
        let cases: [([UInt8]?, SMPImageCode)] = [
            (wrong, .hashNotFound), ([UInt8](repeating: 3, count: 8), .invalidHash),
            (nil, .invalidHash), ([UInt8](repeating: 0xAA, count: 32), .testOfActive),
        ]
        for (hash, code) in cases {
            let reply = ask(&server, .setState(hash: hash, isConfirmed: false))
            #expect(reply?.fault == .image(code))
        }
    }

    private func flags(_ server: inout Server) throws -> [SMPImage.Flags] {
        let reply = try #require(ask(&server, .imageState))
        return try SMPImageList(reply.body).images.map { $0.flags.subtracting(.bootable) }
    }

    @Test func `a trial, step by step`() throws {
        var server = server()
        #expect(try flags(&server) == [[.active, .confirmed]])
        let last = upload(&server)
        #expect(offset(last) == Self.image.count)
        #expect(try flags(&server) == [[.active, .confirmed], []])
        let mark = SMPRequest.setState(hash: try hash(Self.image), isConfirmed: false)
        ask(&server, mark)
        #expect(try flags(&server) == [[.active, .confirmed], [.pending]])
        server.restarted()
        #expect(try flags(&server) == [[.active], [.confirmed]])
        #expect(server.facts.images[0].active.version == FirmwareVersion(2, 0))
        server.restarted()
        #expect(try flags(&server) == [[.active, .confirmed], []], "it went back")
        #expect(server.facts.images[0].active.version == FirmwareVersion(0, 0))
        // A second trial, without another upload.
        ask(&server, mark)
        server.restarted()
        ask(&server, .setState(hash: nil, isConfirmed: true))
        #expect(try flags(&server) == [[.active, .confirmed]], "the old one is not listed")
        server.restarted()
        #expect(server.facts.images[0].active.version == FirmwareVersion(2, 0))
    }

    @Test func `confirmed before the restart there is no way back`() throws {
        var server = server()
        upload(&server)
        ask(&server, .setState(hash: try hash(Self.image), isConfirmed: true))
        #expect(try flags(&server)[1] == [.pending, .permanent])
        server.restarted()
        server.restarted()
        #expect(server.facts.images[0].active.version == FirmwareVersion(2, 0))
    }

    @Test func `a damaged image is taken and marked, but not started`() throws {
        var server = server()
        var image = Self.image
        image[900] ^= 1
        upload(&server, image)
        let reply = ask(&server, .setState(hash: try hash(image), isConfirmed: false))
        #expect(reply?.fault == nil)
        server.restarted()
        #expect(try flags(&server) == [[.active, .confirmed]])
        #expect(server.facts.images[0].active.version == FirmwareVersion(0, 0))
    }

    @Test func `where the highest version starts, marks are not supported`() throws {
        var server = server { $0.mode = .ramLoad }
        upload(&server)
        let reply = ask(&server, .setState(hash: try hash(Self.image), isConfirmed: false))
        #expect(reply?.fault == .code(.notSupported, reason: nil))
        server.restarted()
        let answer = try #require(ask(&server, .imageState))
        let active = try #require(try SMPImageList(answer.body).active(0))
        #expect(active.slot == 1 && active.flags.contains(.confirmed))
        #expect(active.version == FirmwareVersion(2, 0))
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `marked after the main image, another one is passed over`(order: [Int]) throws {
        var server = server(images: 2)
        let images = [Self.image, try MCUbootFile.sample(size: 1_500, seed: 5).bytes]
        for number in [0, 1] { upload(&server, images[number], number: number) }
        for number in order {
            ask(&server, .setState(hash: try hash(images[number]), isConfirmed: false))
        }
        server.restarted()
        #expect(server.facts.images[0].active.version == FirmwareVersion(2, 0))
        let isNew = server.facts.images[1].active.version == FirmwareVersion(2, 0)
        #expect(isNew == (order == [1, 0]))
    }

    @Test func `slots are reported with what reaches them`() throws {
        var server = server(images: 2)
        let reply = try #require(ask(&server, .slotInfo))
        let info = try SMPSlotInfo(reply.body)
        #expect(info.slots.map(\.uploadID) == [nil, 0, nil, 1])
        #expect(info.slots.allSatisfy { $0.size == 16_384 && $0.maximum == 12_288 })
    }
}
