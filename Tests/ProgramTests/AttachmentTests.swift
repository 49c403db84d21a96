import Base
import Foundation
import Signers
import Testing

/// Bills of materials and attestations of an image: stored, verified, carried in bundles and
/// reported.
@Suite struct AttachmentTests {
    private struct Samples: Decodable {
        let keys: [String: String]
        let files: [String: String]
    }

    private static let bill = """
        {"bomFormat": "CycloneDX", "specVersion": "1.6",
         "metadata": {"component": {"type": "firmware", "name": "city", "version": "4.12.0"}},
         "components": [{"type": "library", "name": "rtos"}]}
        """

    private let depot: TrustedDepot
    private let samples: Samples
    private var program: Program { depot.program }
    private var folder: String { program.folder.path }

    init() throws {
        depot = try TrustedDepot()
        let file = Program.repository.appending(
            path: "Tests/TrustTests/Fixtures/attestations.json"
        )
        samples = try JSONDecoder().decode(Samples.self, from: try Data(contentsOf: file))
        try program.write("city.cdx.json", Self.bill)
        for name in samples.keys.keys {
            try program.write("keys/\(name).pem", samples.keys[name] ?? "", mode: 0o644)
            try program.write("\(name).intoto", samples.files[name] ?? "")
        }
        try manifest()
    }

    private func manifest(
        bill: String = "'file:city.cdx.json'",
        _ attestations: String =
            "{url: 'file:ed25519.intoto', key: keys/ed25519.pem}, {url: 'file:ecdsa.intoto'}"
    ) throws {
        try depot.manifest(trust: "sbom: \(bill)\n    attestations: [\(attestations)]")
    }

    private func inspect(_ state: String, _ more: String...) throws -> String {
        let result = try program.run(
            ["image", "inspect", TrustedDepot.digest, "--state", state] + more
        )
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    /// The files in the store that belong to the image.
    private func kept(_ state: String) throws -> [String: Data] {
        let place = "\(state)/images/sha256/\(TrustedDepot.digest.prefix(2))"
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        var kept: [String: Data] = [:]
        for name in names where name.hasPrefix(TrustedDepot.digest + ".") {
            let own = String(name.dropFirst(TrustedDepot.digest.count + 1))
            kept[own] = try Data(contentsOf: URL(filePath: "\(place)/\(name)"))
        }
        return kept
    }

    @Test func `documents beside an image are kept with it, and inspect lists them`() throws {
        let result = try depot.fetch()
        #expect(result.status == 0, "\(result.errors)")
        let text = try inspect(program.state)
        for line in [
            "bill of materials: CycloneDX 1.6 of 'city 4.12.0', 1 components, not verified: no key",
            "attestation: https://slsa.dev/provenance/v1 of the builder "
                + "https://example.com/builders/7, signed by the key ",
            "https://example.com/builders/7, not verified: no key is given, from file:ecdsa.intoto",
        ] {
            #expect(text.contains(line), "\(text)")
        }
        let json = try inspect(program.state, "--json")
        #expect(json.contains(#""documents":[{"kind":"sbom","title":"CycloneDX 1.6"#), "\(json)")
        let kept = try kept(program.state)
        #expect(kept.count == 3, "\(kept.keys)")
        #expect(kept.values.contains(Data(Self.bill.utf8)))
        #expect(kept.values.contains(Data((samples.files["ed25519"] ?? "").utf8)))
        // They are removed with the image.
        let pruned = try program.run([
            "images", "prune", "--forget", "trusted", "--state", program.state,
        ])
        #expect(pruned.status == 0, "\(pruned.errors)")
        #expect(try self.kept(program.state).isEmpty)
    }

    @Test func `a pinned bill of materials and keys of every kind are taken`() throws {
        let hash = try #require(program.sha256(of: "city.cdx.json"))
        try manifest(
            bill: "{url: 'file:city.cdx.json', sha256: \"\(hash)\"}",
            ["ed25519", "ecdsa", "rsa"].map { "{url: 'file:\($0).intoto', key: keys/\($0).pem}" }
                .joined(separator: ", ")
        )
        let result = try depot.fetch()
        #expect(result.status == 0, "\(result.errors)")
        let text = try inspect(program.state)
        #expect(text.contains("1 components, pinned by its SHA-256 in the manifest"))
        #expect(text.split(separator: "signed by the key ").count == 4, "\(text)")
    }

    /// A fault, and the expected message.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let status: Int32
        let sentence: String
        var bill = "'file:city.cdx.json'"
        var attestation = "{url: 'file:ed25519.intoto', key: keys/ed25519.pem}"
        var file: (name: String, sample: String?, text: String)?
    }

    static let faults = [
        Fault(
            testDescription: "another key",
            status: 77,
            sentence: "no signature in it is by the key",
            attestation: "{url: 'file:ed25519.intoto', key: keys/ecdsa.pem}"
        ),
        Fault(
            testDescription: "another image",
            status: 77,
            sentence: "it is not about the image: no subject of it is",
            file: ("ed25519.intoto", "other subject", "")
        ),
        Fault(
            testDescription: "another image, without a key",
            status: 77,
            sentence: "it is not about the image: no subject of it is",
            attestation: "{url: 'file:ed25519.intoto'}",
            file: ("ed25519.intoto", "other subject", "")
        ),
        Fault(
            testDescription: "no statement",
            status: 77,
            sentence: "its payload is 'text/plain', no in-toto statement",
            file: ("ed25519.intoto", "other payload", "")
        ),
        Fault(
            testDescription: "no JSON",
            status: 77,
            sentence: "line 2 is no JSON: ",
            file: ("ed25519.intoto", nil, "\n<html>")
        ),
        Fault(
            testDescription: "an attestation that is missing",
            status: 77,
            sentence: "file:away.intoto: it is not there",
            attestation: "{url: 'file:away.intoto', key: keys/ed25519.pem}"
        ),
        Fault(
            testDescription: "a bill of other bytes",
            status: 77,
            sentence: "the manifest pins 0000",
            bill: "{url: 'file:city.cdx.json', sha256: \"\(String(repeating: "0", count: 64))\"}"
        ),
        Fault(
            testDescription: "a bill of another form",
            status: 77,
            sentence: "it is no CycloneDX document: 'bomFormat' is missing or wrong",
            file: ("city.cdx.json", nil, "{\"spdxVersion\": \"SPDX-2.3\"}")
        ),
        Fault(
            testDescription: "a bill that is missing",
            status: 77,
            sentence: "the bill of materials of the image city cannot be fetched",
            bill: "'file:away.json'"
        ),
        Fault(
            testDescription: "a key that is missing",
            status: 66,
            sentence: "the attestation key of the image city cannot be read",
            attestation: "{url: 'file:ed25519.intoto', key: keys/away.pem}"
        ),
        Fault(
            testDescription: "a key that is none",
            status: 78,
            sentence: "keys/demo.key: it is no public key of Ed25519",
            attestation: "{url: 'file:ed25519.intoto', key: keys/demo.key}"
        ),
    ]

    @Test(arguments: faults)
    func `a document that is wrong is refused with its place`(fault: Fault) throws {
        try manifest(bill: fault.bill, fault.attestation)
        if let file = fault.file {
            try program.write(file.name, file.sample.flatMap { samples.files[$0] } ?? file.text)
        }
        let result = try depot.fetch()
        #expect(result.status == fault.status)
        #expect(result.errors.contains(fault.sentence), "\(result.errors)")
        #expect(result.errors.contains("manifest.yaml:"), "\(result.errors)")
        let run = try program.run([
            "run", "manifest.yaml", "--simulate", "demo/depot.yaml", "--state", program.state,
        ])
        #expect(run.status == fault.status, "\(run.errors)")
    }

    @Test(arguments: [
        ("'ftp://x'", "{url: 'file:a'}", "this is not a URL that images come from"),
        ("{sha256: 12}", "{url: 'file:a'}", "`url`"),
        ("'http://example.com/x'", "{url: 'file:a'}", "`http://` is not encrypted"),
        ("'file:x'", "", "the list `attestations` is empty"),
        ("'file:x'", "{key: keys/a.pem}", "`url`"),
        ("'file:x'", "{url: 'file:a'}, {url: 'file:a'}", "the same attestation is named twice"),
        ("'file:x'", "{url: 'file:a', keys: b}", "`keys`"),
    ])
    func `a manifest that names them wrongly is invalid at a place`(
        bill: String,
        attestations: String,
        sentence: String
    ) throws {
        try manifest(bill: bill, attestations)
        let result = try program.run(["validate", "manifest.yaml"])
        #expect(result.status == 65)
        #expect(result.errors.contains(sentence), "\(result.errors)")
        #expect(result.errors.contains("manifest.yaml:1"), "\(result.errors)")
    }

    // MARK: Without network

    private func bundle() throws {
        let made = try program.run([
            "bundle", "create", "manifest.yaml", "tallinn.bundle", "--state", folder + "/office",
        ])
        #expect(made.status == 0, "\(made.errors)")
    }

    private func apply(_ more: String...) throws -> Program.Result {
        try program.run(
            [
                "bundle", "apply", "tallinn.bundle", "--target-dir", "rollouts", "--state",
                program.state,
            ] + more
        )
    }

    @Test func `a signed bundle carries them to a depot without network`() throws {
        try bundle()
        let office = MinisignSigner(2)
        let bytes = try Data(contentsOf: URL(filePath: folder + "/tallinn.bundle"))
        try program.write("tallinn.bundle.minisig", Data(office.sign(Array(bytes))))
        try program.write("office.pub", office.publicText)
        for name in ["city.cdx.json", "ed25519.intoto", "ecdsa.intoto", "keys/ed25519.pem"] {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        let applied = try apply("--key", "office.pub")
        #expect(applied.status == 0, "\(applied.errors)")
        #expect(try kept(program.state) == kept(folder + "/office"))
        try FileManager.default.copyItem(
            atPath: folder + "/keys/demo.key",
            toPath: folder + "/rollouts/trusted/keys/demo.key"
        )
        let run = try program.run([
            "run", "rollouts/trusted/manifest.yaml", "--simulate", "demo/depot.yaml", "--state",
            program.state, "--report", "night.html", "--quiet",
        ])
        #expect(run.status == 0, "\(run.errors)")
        let report = try String(contentsOfFile: folder + "/night.html", encoding: .utf8)
        #expect(report.contains("<br>attestation: https://slsa.dev/provenance/v1"), "\(report)")
        #expect(report.contains("<br>bill of materials: CycloneDX 1.6"))
    }

    @Test func `an unsigned bundle brings no key, one that was brought counts`() throws {
        try bundle()
        let unknown = try apply()
        #expect(unknown.status == 77)
        #expect(
            unknown.errors.contains("this depot does not know the attestation key"),
            "\(unknown.errors)"
        )
        #expect(!FileManager.default.fileExists(atPath: folder + "/rollouts/trusted"))
        let added = try program.run(["trust", "add", "keys/ed25519.pem", "--state", program.state])
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.output.contains("is known from now on"))
        let shown = try program.run(["trust", "show", "--state", program.state])
        #expect(shown.output.contains("attestation key "), "\(shown.output)\(shown.errors)")
        let known = try apply()
        #expect(known.status == 0, "\(known.errors)")
    }

    @Test func `what 'trust add' takes for no key is refused with what it takes`() throws {
        try program.write(
            "certificate.pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        )
        let result = try program.run(["trust", "add", "certificate.pem", "--state", program.state])
        #expect(result.status == 78)
        #expect(result.errors.contains("it is no public key of Ed25519, of P-256 or of RSA"))
        #expect(result.errors.contains("'trust add' takes a public key in PEM"))
    }

    @Test func `a bundle whose attestation was changed or left out is refused`() throws {
        try bundle()
        _ = try program.run(["trust", "add", "keys/ed25519.pem", "--state", program.state])
        let whole = try LooseBundle(folder + "/tallinn.bundle")
        let names = whole.parts.keys.filter { $0.hasPrefix("attachments/city/") }.sorted()
        #expect(names.count == 3, "\(whole.parts.keys)")
        let signed = try #require(
            names.first { whole.parts[$0] == Array((samples.files["ed25519"] ?? "").utf8) }
        )
        var other = whole
        other.parts[signed] = Array((samples.files["rsa"] ?? "").utf8)
        var less = whole
        less.parts[signed] = nil
        var more = whole
        more.parts["attachments/city/sbom-0000000000000000"] = Array(Self.bill.utf8)
        for (bundle, sentence) in [
            (other, "no signature in it is by the key"), (less, "it is not there"),
            (more, "its manifest does not name its part"),
        ] {
            try bundle.write(to: folder + "/tallinn.bundle")
            let result = try apply()
            #expect(result.status == 77)
            #expect(result.errors.contains(sentence), "\(result.errors)")
        }
    }
}

extension Program {
    fileprivate func sha256(of name: String) -> String? {
        guard let bytes = try? Data(contentsOf: URL(filePath: folder.path + "/" + name)) else {
            return nil
        }
        return SHA256.digest(of: Array(bytes)).description
    }
}
