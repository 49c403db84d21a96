import Base
import Families
import Foundation
import Glibc
import Images
import Simulation
import Synchronization
import Testing

/// SMP by other authors: the packages `smp` and `smpclient` of PyPI.
///
/// Messages made by `smp` are committed as data. With a Python that has both packages, which
/// `YARDMASTER_SMP_PYTHON` names, they also communicate with this code.
@Suite struct SMPPeerTests {
    private static let python = ProcessInfo.processInfo.environment["YARDMASTER_SMP_PYTHON"]

    private static var peer: String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/peer.py").path
    }

    private func vectors(_ kind: String) throws -> [(name: String, frame: SMPFrame)] {
        let json = try JSONValue(json: fixture("vectors.json"))
        return try #require(json[kind]?.array).map { row in
            let bytes = try #require(row["hex"]?.string.flatMap { Hex.bytes($0) })
            return (try #require(row["name"]?.string), try #require(SMPFrame(bytes)))
        }
    }

    private static let data = (0..<200).map { UInt8($0) }
    private static let hash = (0..<32).map { UInt8($0) }

    private static let requests: [(String, SMPRequest, sequence: UInt8)] = [
        ("echo", .echo("hello"), 1), ("reset", .reset(isForced: false), 2),
        ("forced reset", .reset(isForced: true), 3), ("parameters", .parameters, 4),
        ("bootloader mode", .bootloaderInfo(query: "mode"), 5), ("image state", .imageState, 6),
        ("test", .setState(hash: hash, isConfirmed: false), 7),
        ("confirm", .setState(hash: nil, isConfirmed: true), 8),
        (
            "first piece",
            .upload(
                SMPChunk(
                    offset: 0,
                    data: data[...],
                    opening: .init(image: 1, length: 70_000, sha: hash)
                )
            ), 9
        ),
        ("later piece", .upload(SMPChunk(offset: 66_000, data: data[..<20])), 10),
        ("erase", .erase(slot: 3), 11), ("statistics", .statistics(group: "app"), 12),
        ("setting", .readSetting("app/rate"), 13),
        ("set", .writeSetting("app/rate", [0x2C, 1]), 14), ("commit", .commitSettings, 15),
        ("save", .saveSettings, 16), ("file", .readFile("/lfs1/mode", offset: 300), 17),
        ("first of a file", .writeFile(piece(0, "quiet", of: 11)), 18),
        ("rest of a file", .writeFile(piece(5, " night")), 19),
    ]

    private static func piece(_ offset: Int, _ text: String, of length: Int? = nil) -> SMPFilePiece
    {
        SMPFilePiece(
            name: "/lfs1/mode",
            offset: offset,
            data: Array(text.utf8)[...],
            length: length
        )
    }

    @Test func `our requests say what theirs say`() throws {
        let theirs = try vectors("requests")
        #expect(theirs.map(\.name) == Self.requests.map(\.0))
        for (vector, ours) in zip(theirs, Self.requests) {
            let frame = try #require(SMPFrame(ours.1.bytes(sequence: ours.sequence)))
            #expect(frame.header == vector.frame.header, "\(vector.name)")
            func sorted(_ bytes: [UInt8]) throws -> [[UInt8]] {
                try #require(CBORValue(cbor: bytes).members)
                    .map { $0.key.serialized + $0.value.serialized }
                    .sorted { $0.lexicographicallyPrecedes($1) }
            }
            #expect(try sorted(frame.payload) == sorted(vector.frame.payload), "\(vector.name)")
        }
    }

    @Test func `we read their answers`() throws {
        var replies: [String: SMPReply] = [:]
        for (name, frame) in try vectors("replies") { replies[name] = try SMPReply(frame) }
        func body(_ name: String) throws -> CBORValue { try #require(replies[name]).body }
        #expect(
            try SMPParameters(body("parameters"))
                == SMPParameters(bufferSize: 2_475, bufferCount: 4)
        )
        #expect(try body("bootloader")["bootloader"]?.text == "MCUboot")
        let list = try SMPImageList(body("image state"))
        #expect(list.images.map(\.image) == [0, 1])
        #expect(list.images[0].version == FirmwareVersion(1, 2, 3, build: 45))
        #expect(list.images[0].flags == [.bootable, .active, .confirmed])
        #expect(list.images[1].flags == [.pending])
        #expect(list.images[0].hash == Self.hash)
        #expect(try SMPUploadReply(body("offset")).offset == 66_000)
        #expect(try SMPUploadReply(body("end")).matches == true)
        #expect(
            try SMPStatistics(body("statistics")).fields == ["errors": 0, "ticks": 4_711_000_000]
        )
        #expect(try SMPSetting(body("setting")).value == [0x2C, 1])
        let file = try SMPFileContent(body("file"))
        #expect((file.offset, file.length) == (0, 11))
        #expect(file.data == Array("quiet".utf8))
        #expect(try SMPFileTaken(body("taken")).offset == 11)
        #expect(replies["busy"]?.fault == .code(.busy, reason: nil))
        #expect(replies["busy"]?.header.version == 0)
        #expect(replies["refusal"]?.fault == .image(.noFreeSlot))
    }

    // MARK: Live

    @Test(.enabled(if: python != nil, "needs YARDMASTER_SMP_PYTHON"))
    func `their codec reads our requests`() throws {
        let lines = Self.requests.map { Hex.text($0.1.bytes(sequence: $0.sequence)) + "\n" }
        let output = try run(["decode"], input: lines.joined())
        let read = output.split(separator: "\n")
        #expect(read.count == lines.count)
        for (line, request) in zip(read, Self.requests) {
            #expect(line.contains("Request \(request.sequence) "), "\(request.0): \(line)")
        }
        #expect(read[8].contains("\"len\": 70000"))
        #expect(read[9].contains("\"off\": 66000"))
    }

    @Test(
        .enabled(if: python != nil, "needs YARDMASTER_SMP_PYTHON"),
        arguments: ["tiny.img", "large.img"]
    )
    func `their client updates our module`(name: String) throws {
        let device = try DatagramDevice()
        let thread = Thread { device.serve() }
        thread.start()
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/\(name)").path
        let output = try run(["update", String(device.port), path])
        device.stop()
        #expect(output.contains("echo; upload of "), "\(output)")
        #expect(output.contains("; marked; tried; confirmed"), "\(output)")
        let image = try MCUbootImage(fixture(name))
        #expect(device.running == image.hash)
    }

    private func run(_ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.python))
        process.arguments = [Self.peer] + arguments
        let (stdin, stdout) = (Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}

/// The simulated device behind a UDP port of this machine, with one message in each datagram.
private final class DatagramDevice: Sendable {
    let port: UInt16
    private let descriptor: CInt
    private let server: Mutex<SMPServer<VolatileMemory>>
    private let isStopped = Atomic(false)

    init() throws {
        descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
        var limit = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
        var rules = SMPServerRules()
        rules.bufferSize = 1_024
        let old = SMPServerFacts.Content(
            version: FirmwareVersion(1, 0),
            hash: [UInt8](repeating: 0xAA, count: 32)
        )
        server = Mutex(
            SMPServer(
                rules: rules,
                facts: SMPServerFacts(images: [.init(active: old)]),
                memory: VolatileMemory(capacity: 65_536)
            )
        )
    }

    deinit { close(descriptor) }

    var running: [UInt8] { server.withLock { $0.facts.images[0].active.hash } }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    func serve() {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while !isStopped.load(ordering: .relaxed) {
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                    let count = recvfrom(descriptor, &buffer, buffer.count, 0, peer, &length)
                    guard count > 0, let frame = SMPFrame(Array(buffer[..<count])) else { return }
                    for action in server.withLock({ $0.message(frame) }) {
                        switch action {
                        case .erase: break
                        case .reply(let bytes):
                            _ = sendto(descriptor, bytes, bytes.count, 0, peer, length)
                        case .restart: server.withLock { $0.restarted() }
                        }
                    }
                }
            }
        }
    }
}
