import Base
import Images
import Testing

@Suite struct DFUPackageTests {
    private func package(
        _ manifest: String,
        _ files: [(String, Int)] = [("a.dat", 140), ("a.bin", 400)]
    ) throws -> [UInt8] {
        var writer = ZipWriter()
        try writer.add("manifest.json", Array(manifest.utf8))
        for (name, size) in files {
            try writer.add(name, random(size, seed: UInt64(size)), method: .stored)
        }
        return writer.finish()
    }

    private func error(_ bytes: [UInt8]) -> DFUPackageError? {
        do throws(DFUPackageError) {
            _ = try DFUPackage(zip: bytes)
            return nil
        } catch {
            return error
        }
    }

    private static let a = #"{"dat_file": "a.dat", "bin_file": "a.bin"}"#
    private static let b = #"{"dat_file": "b.dat", "bin_file": "b.bin"}"#

    /// The packages were made by the vendor's tool from random firmware.
    @Test(
        arguments: [
            ("app.zip", [DFUPackage.Kind.application], [(142, 4_096)]),
            ("sd.zip", [.softdevice], [(146, 3_072)]),
            ("bl.zip", [.bootloader], [(140, 2_048)]),
            ("all.zip", [.softdeviceAndBootloader, .application], [(149, 5_120), (142, 4_096)]),
        ] as [(String, [DFUPackage.Kind], [(Int, Int)])]
    )
    func `a real package is taken apart, system part first`(
        name: String,
        kinds: [DFUPackage.Kind],
        sizes: [(Int, Int)]
    ) throws {
        let package = try DFUPackage(zip: try fixture(name))
        #expect(package.parts.map(\.kind) == kinds)
        #expect(package.parts.map(\.initPacket.count) == sizes.map(\.0))
        #expect(package.parts.map(\.firmware.count) == sizes.map(\.1))
    }

    @Test func `an init packet for another kind of image is refused`() throws {
        let part = try #require(try DFUPackage(zip: try fixture("app.zip")).parts.first)
        var writer = ZipWriter()
        let manifest = #"{"manifest": {"bootloader": {"dat_file": "a.dat", "bin_file": "a.bin"}}}"#
        try writer.add("manifest.json", Array(manifest.utf8))
        try writer.add("a.dat", part.initPacket)
        try writer.add("a.bin", part.firmware)
        let error = #expect(throws: InspectionError.self) {
            try InspectedImage(writer.finish())
        }
        #expect(error?.place == "part bootloader")
        #expect(error?.description.contains("an image of another kind: an application") == true)
        for name in ["app.zip", "sd.zip", "bl.zip", "all.zip"] {
            _ = try InspectedImage(fixture(name))
        }
    }

    @Test func `firmware that is not the one of its init packet is refused`() throws {
        let part = try #require(try DFUPackage(zip: try fixture("app.zip")).parts.first)
        var firmware = part.firmware
        firmware[100] ^= 1
        var writer = ZipWriter()
        let manifest = #"{"manifest": {"application": {"dat_file": "a.dat", "bin_file": "a.bin"}}}"#
        try writer.add("manifest.json", Array(manifest.utf8))
        try writer.add("a.dat", part.initPacket)
        try writer.add("a.bin", firmware)
        let error = #expect(throws: InspectionError.self) {
            try InspectedImage(writer.finish())
        }
        #expect(error?.description == "its firmware is not the one its init packet describes")
    }

    @Test func `each init packet holds its own firmware's digest`() throws {
        // An init packet contains the hash in reverse order, so this proves that the pairs are
        // right.
        for part in try DFUPackage(zip: try fixture("all.zip")).parts {
            let digest = Array(SHA256.digest(of: part.firmware).bytes.reversed())
            let found = part.initPacket.indices.contains {
                part.initPacket[$0...].starts(with: digest)
            }
            #expect(found)
        }
    }

    @Test func `a legacy package is distinguished from a broken one`() throws {
        #expect(error(try fixture("legacy.zip")) == .legacy)
        #expect(
            error(try package(#"{"manifest": {"dfu_version": 0.5}}"#)) == .legacy
        )
    }

    @Test(arguments: DFUPackage.Kind.allCases.filter { $0 != .application })
    func `a system part goes alone or before an application`(kind: DFUPackage.Kind) throws {
        let system =
            kind == .softdeviceAndBootloader
            ? Self.a.dropLast()
                + #", "info_read_only_metadata": {"sd_size": 300, "bl_size": 100}}"# : Self.a
        let alone = try package(#"{"manifest": {"\#(kind.rawValue)": \#(system)}}"#)
        #expect(try DFUPackage(zip: alone).parts.map(\.kind) == [kind])
        let both = try package(
            #"{"manifest": {"application": \#(Self.b), "\#(kind.rawValue)": \#(system)}}"#,
            [("a.dat", 140), ("a.bin", 400), ("b.dat", 141), ("b.bin", 401)]
        )
        let parts = try DFUPackage(zip: both).parts
        #expect(parts.map(\.kind) == [kind, .application])
        #expect(parts.map(\.firmware.count) == [400, 401])
    }

    @Test func `two system parts cannot be sent together`() throws {
        let bytes = try package(
            #"{"manifest": {"softdevice": \#(Self.a), "bootloader": \#(Self.b)}}"#
        )
        #expect(error(bytes) == .conflictingParts(["bootloader", "softdevice"]))
    }

    @Test(arguments: [
        ("", DFUPackageError.manifest("is no JSON: the text ends early at byte 0")),
        ("{", .manifest("is no JSON: the text ends early at byte 1")),
        ("[]", .manifest("has no object 'manifest'")),
        (#"{"manifest": 1}"#, .manifest("has no object 'manifest'")),
        (#"{"manifest": {}}"#, .noParts),
        (#"{"manifest": {"firmware": \#(Self.a)}}"#, .unknownPart("firmware")),
        (#"{"manifest": {"application": 1}}"#, .manifest("names no 'dat_file' for application")),
        (
            #"{"manifest": {"application": {"dat_file": "a.dat"}}}"#,
            .manifest("names no 'bin_file' for application")
        ),
        (
            #"{"manifest": {"application": {"dat_file": "a.dat", "bin_file": 7}}}"#,
            .manifest("names no 'bin_file' for application")
        ),
        (
            #"{"manifest": {"application": {"dat_file": "a.dat", "bin_file": "c.bin"}}}"#,
            .unlistedFile("a.bin")
        ),
        (
            #"{"manifest": {"application": {"dat_file": "a.dat", "bin_file": "a.dat"}}}"#,
            .sharedFile("a.dat")
        ),
        (
            #"{"manifest": {"application": {"dat_file": "manifest.json", "bin_file": "a.bin"}}}"#,
            .sharedFile("manifest.json")
        ),
        (
            #"{"manifest": {"application": \#(Self.b), "bootloader": \#(Self.a)}}"#,
            .missingFile("b.dat")
        ),
        (
            #"{"manifest": {"application": \#(Self.a), "bootloader": \#(Self.a)}}"#,
            .sharedFile("a.dat")
        ),
        (
            #"{"manifest": {"softdevice_bootloader": \#(Self.a)}}"#,
            .manifest("gives no 'sd_size' for softdevice_bootloader")
        ),
    ])
    func `a manifest that does not add up is refused in a sentence`(
        manifest: String,
        expected: DFUPackageError
    ) throws {
        #expect(error(try package(manifest)) == expected)
    }

    @Test(arguments: [(300, 101), (399, 0), (1, 400), (-1, 401), (Int.max, 1)])
    func `the sizes of a combined part must make up its file`(softdevice: Int, bootloader: Int)
        throws
    {
        let found = error(
            try package(
                #"""
                {"manifest": {"softdevice_bootloader": {
                    "dat_file": "a.dat", "bin_file": "a.bin",
                    "info_read_only_metadata": {"sd_size": \#(softdevice), "bl_size": \#(bootloader)}
                }}}
                """#
            )
        )
        switch found {
        case .wrongSizes("a.bin"), .manifest: break
        default: Issue.record("\(String(describing: found))")
        }
    }

    @Test func `an empty firmware, a stray file and a missing manifest are refused`() throws {
        let manifest = #"{"manifest": {"application": \#(Self.a)}}"#
        #expect(error(try package(manifest)) == nil)
        #expect(
            error(try package(manifest, [("a.dat", 140), ("a.bin", 0)])) == .emptyFile("a.bin")
        )
        #expect(
            error(try package(manifest, [("a.dat", 1), ("a.bin", 2), ("run.sh", 3)]))
                == .unlistedFile("run.sh")
        )
        #expect(error(try package(manifest, [("a.dat", 140)])) == .missingFile("a.bin"))
        #expect(error(ZipWriter().finish()) == .noManifest)
        var writer = ZipWriter()
        try writer.add("pkg/manifest.json", Array(manifest.utf8))
        #expect(error(writer.finish()) == .noManifest)
        let padded = manifest + String(repeating: " ", count: 70_000)
        #expect(error(try package(padded)) == .manifest("is too long"))
    }

    @Test func `what is no archive is reported by the archive's own words`() throws {
        let found = try #require(error(Array("<html>".utf8)))
        #expect(
            found.description
                == "the DFU package cannot be read: zip archive: not a zip archive"
        )
        var bytes = try fixture("app.zip")
        bytes[600] ^= 1
        #expect(error(bytes)?.description.contains("its checksum is wrong") == true)
    }
}
