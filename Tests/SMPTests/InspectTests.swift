import Base
import Families
import Images
import Testing

/// The report about image files.
@Suite struct InspectTests {
    @Test func `a package of the SDK is taken apart`() throws {
        guard case .ncs(let package) = try InspectedImage(fixture("dfu_application.zip")) else {
            Issue.record("it is not seen for what it is")
            return
        }
        #expect(package.parts.map(\.name) == ["needs-net.img", "net.img"])
        #expect(package.parts.map(\.image) == [0, 1])
        #expect(package.parts.map(\.type) == ["application", "net-core"])
        #expect(package.parts[1].file.image.version == FirmwareVersion(3, 1))
        #expect(package.unlisted == [])
    }

    @Test func `bare hexadecimal numbers of older makers are read`() throws {
        let package = try NCSPackage(zip: fixture("bare-hex.zip"))
        #expect(package.parts[0].board == "thingy52 0x1F", "not in strings")
        #expect(package.parts[0].file.image.version == FirmwareVersion(1, 2, 3, build: 45))
    }

    @Test(arguments: ["dfu_application.zip", "bare-hex.zip"])
    func `no bit of a package changes what is sent, unnoticed`(name: String) throws {
        let whole = try fixture(name)
        let package = try NCSPackage(zip: whole)
        let sent = package.parts.map { ($0.image, $0.slot, $0.file.bytes) }
        for bit in 0..<whole.count * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            guard let other = try? NCSPackage(zip: bytes) else { continue }
            // A time stamp or a comment may differ; the bytes for the module may not.
            let isSame =
                zip(sent, other.parts).allSatisfy { $0.2 == $1.file.bytes }
                && other.parts.count == sent.count
                && zip(sent, other.parts).allSatisfy { $0.0 == $1.image && $0.1 == $1.slot }
            #expect(isSame, "bit \(bit)")
        }
    }

    @Test(arguments: [
        ("signed.img", 300, "byte 230"), ("tiny.img", 60, nil), ("tiny.img", 0, "byte 0"),
        ("large.img", 20_513, nil),
    ])
    func `a broken file is reported with its place`(name: String, byte: Int, place: String?) throws
    {
        var bytes = try fixture(name)
        bytes[min(byte, bytes.count - 1)] ^= 0xFF
        do {
            _ = try InspectedImage(bytes)
            #expect(name == "signed.img", "a signature is not ours to check")
        } catch {
            #expect(!error.description.isEmpty)
            if let place { #expect(error.place == place) }
        }
    }

    @Test func `warnings say what a person should know`() throws {
        #expect(try MCUbootFile(fixture("signed.img")).warnings == [])
        #expect(try MCUbootFile(fixture("tiny.img")).warnings.count == 1)
        let confirmed = try MCUbootFile(fixture("confirmed.img")).warnings
        #expect(confirmed.contains { $0.contains("without a trial") })
    }

    @Test func `an encrypted image is taken, for its hash is that of what nobody sees here`() throws
    {
        let file = try MCUbootFile(fixture("encrypted.img"))
        #expect(!file.isChecked)
        #expect(file.image.version == FirmwareVersion(1, 2, 4))
        #expect(file.warnings.contains { $0.contains("it is encrypted") })
        // The flag alone does not make an encrypted image: it must contain the key, too.
        var bytes = try fixture("large.img")
        bytes[16] |= 0x04
        #expect(throws: MCUbootFileError.wrongHash(.sha256)) { try MCUbootFile(bytes) }
    }

    @Test(arguments: [("sha384.img", MCUbootValue.Kind.sha384), ("sha512.img", .sha512)])
    func `long hashes are checked too`(name: String, kind: MCUbootValue.Kind) throws {
        var bytes = try fixture(name)
        let file = try MCUbootFile(bytes)
        #expect(file.isChecked && file.image.hashKind == kind)
        bytes[40] ^= 1
        #expect(throws: MCUbootFileError.wrongHash(kind)) { try MCUbootFile(bytes) }
    }

    @Test func `nothing that is no image is taken for one`() {
        for bytes in [[], [0x50, 0x4B], Array("hello, world".utf8)] as [[UInt8]] {
            #expect(throws: InspectionError.self) { try InspectedImage(bytes) }
        }
    }
}
