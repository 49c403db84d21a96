import Base
import Foundation
import Images
import Signers
import Testing

/// A depot whose image is signed with a minisign key.
struct SignedDepot {
    let depot: TrustedDepot
    let signer: MinisignSigner

    init(_ signer: MinisignSigner = MinisignSigner(1)) throws {
        depot = try TrustedDepot()
        self.signer = signer
    }

    var program: Program { depot.program }
    var folder: String { depot.program.folder.path }

    /// Signs the image and writes a manifest that names the key and the signature.
    @discardableResult
    func sign(
        _ comment: String = "hardware:comodule-17-0 counter:5 version:4.12.0",
        by signer: MinisignSigner? = nil,
        manifest: String = "manifest.yaml",
        at url: String = "file:city.minisig",
        lists: String = ""
    ) throws -> String {
        let signer = signer ?? self.signer
        let image = try Data(contentsOf: URL(filePath: folder + "/demo/city-4.12.0.zip"))
        try program.write("city.minisig", Data(signer.sign(Array(image), comment: comment)))
        try program.write("keys/signer.pub", signer.publicText, mode: 0o644)
        return try depot.manifest(
            name: manifest,
            trust: "signature: {key: keys/signer.pub, url: '\(url)'}",
            lists: lists
        )
    }

    /// Makes a bundle of a manifest, with a separate state directory.
    func make(_ bundle: String = "tallinn.bundle", of manifest: String = "manifest.yaml") throws {
        let result = try program.run([
            "bundle", "create", manifest, bundle, "--state", folder + "/office",
        ])
        #expect(result.status == 0, "\(result.errors)")
    }

    func verify(_ more: String..., state: String? = nil) throws -> Program.Result {
        try program.run(
            ["bundle", "verify", "tallinn.bundle", "--state", state ?? program.state] + more
        )
    }

    /// Adds a key to the trusted ones, as a person does who has it from a trusted source.
    func trust(_ signer: MinisignSigner? = nil) throws {
        try program.write("brought.pub", (signer ?? self.signer).publicText)
        let result = try program.run(["trust", "add", "brought.pub", "--state", program.state])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Signs the bundle itself.
    func signBundle(_ name: String = "tallinn.bundle", by signer: MinisignSigner) throws {
        let bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
        try program.write(name + ".minisig", Data(signer.sign(Array(bytes))))
        try program.write("office.pub", signer.publicText)
    }

    /// The bytes of all files below a folder, with links as they are.
    func contents(of path: String) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            contents[name] =
                (try? Data(contentsOf: URL(filePath: path + "/" + name))) ?? Data("folder".utf8)
        }
        return contents
    }
}

/// The parts of a bundle, which a test can change and write again, as a stranger could.
struct LooseBundle {
    var parts: [String: [UInt8]] = [:]

    /// A bundle without parts.
    init() {}

    init(_ path: String) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let length = try BundleIndex.indexLength(Array(bytes.prefix(BundleIndex.headLength)))
        let list = Array(bytes[BundleIndex.headLength..<BundleIndex.headLength + length])
        let index = try BundleIndex(list, total: Int64(bytes.count))
        for member in index.members {
            let start = Int(try index.place(of: member.name).offset)
            parts[member.name] = Array(bytes[start..<start + Int(member.size)])
        }
    }

    func write(to path: String) throws {
        let members = parts.map { name, bytes in
            BundleIndex.Member(
                name: name,
                size: Int64(bytes.count),
                digest: SHA256.digest(of: bytes)
            )
        }
        let head = try BundleIndex.head(of: members, created: WallTime(milliseconds: 0))
        var bytes = head.bytes
        for member in head.members { bytes += parts[member.name] ?? [] }
        try Data(bytes).write(to: URL(filePath: path))
    }
}
