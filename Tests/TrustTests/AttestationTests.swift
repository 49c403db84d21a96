import Base
import Foundation
import Images
import Testing

/// Statements in DSSE envelopes, signed by securesystemslib, and bills of materials.
@Suite struct AttestationTests {
    private struct Samples: Decodable {
        let image: String
        let keys: [String: String]
        let files: [String: String]
    }

    private let samples: Samples
    private let image: SHA256Digest

    init() throws {
        let file = try #require(
            Bundle.module.url(
                forResource: "attestations",
                withExtension: "json",
                subdirectory: "Fixtures"
            )
        )
        samples = try JSONDecoder().decode(Samples.self, from: try Data(contentsOf: file))
        image = try #require(SHA256Digest(samples.image))
    }

    private func key(_ name: String) throws -> VerifyingKey {
        try VerifyingKey(pem: Array(try #require(samples.keys[name]).utf8))
    }

    private func file(_ name: String) throws -> AttestationFile {
        try AttestationFile(Array(try #require(samples.files[name]).utf8))
    }

    @Test func `a key is read however soon its text is gone`() throws {
        for text in samples.keys.values {
            func schemes() -> [VerifyingKey.Scheme] {
                VerifyingKey.Scheme.allCases.filter {
                    VerifyingKey(pem: Array(text.utf8), scheme: $0) != nil
                }
            }
            for _ in 1...100 { #expect(schemes().count == 1) }
        }
    }

    @Test func `what is signed is spelled as in the protocol's example`() throws {
        let bytes = SignedPayload.signedBytes(
            type: "http://example.com/HelloWorld",
            payload: Array("hello world".utf8)
        )
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        )
        // Lengths count bytes, not letters.
        let wide = SignedPayload.signedBytes(type: "é", payload: [])
        #expect(String(decoding: wide, as: UTF8.self) == "DSSEv1 2 é 0 ")
    }

    @Test func `the protocol's example is verified, and no other bytes`() throws {
        // X and Y of the example's key, after the head of a P-256 key (RFC 5480).
        let head = "3059301306072a8648ce3d020106082a8648ce3d03010703420004"
        let x = "67cd390f77aa359cb08c2235f652270493a9ed832b0abcc01f70954c0390d238"
        let y = "0c782bd54e269125a44f4433aff1432ce94e12bca73aa67ac80cea12608ddf74"
        let der = try #require(Hex.bytes(head + x + y))
        let pem = "-----BEGIN PUBLIC KEY-----\n\(Base64.text(der))\n-----END PUBLIC KEY-----\n"
        let key = try VerifyingKey(pem: Array(pem.utf8))
        let signature = """
            A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==
            """
        func envelope(_ payload: String, _ signature: String) throws -> SignedPayload {
            let document: JSONValue = .object([
                "payload": .string(payload),
                "payloadType": "http://example.com/HelloWorld",
                "signatures": [.object(["sig": .string(signature)])],
            ])
            return try SignedPayload(document, line: 1)
        }
        #expect(try envelope("aGVsbG8gd29ybGQ=", signature).isSigned(by: key))
        // The same signature in the other alphabet of Base64.
        let other = signature.replacing("+", with: "-").replacing("/", with: "_")
        #expect(other != signature)
        #expect(try envelope("aGVsbG8gd29ybGQ=", other).isSigned(by: key))
        #expect(try !envelope("aGVsbG8gd29ybGU=", signature).isSigned(by: key))
    }

    @Test(arguments: ["ed25519", "ecdsa", "rsa"])
    func `a statement signed by somebody else's program is verified`(name: String) throws {
        let statements = try file(name).statements(about: image, by: try key(name))
        #expect(statements.map(\.predicateType) == ["https://slsa.dev/provenance/v1"])
        #expect(statements[0].builder == "https://example.com/builders/7")
        let all = try file("all").statements(about: image, by: try key(name))
        #expect(all == statements)
    }

    @Test func `a statement by another key is none, without a key it is only read`() throws {
        for (name, other) in [("ed25519", "ecdsa"), ("ecdsa", "rsa"), ("rsa", "ed25519")] {
            let key = try key(other)
            #expect(throws: AttestationFault.notSigned) {
                try file(name).statements(about: image, by: key)
            }
            #expect(try file(name).statements(about: image, by: nil).count == 1)
        }
    }

    @Test func `of several statements those count that are about the image and by the key`() throws
    {
        let file = try file("several")
        let signed = try file.statements(about: image, by: try key("ed25519"))
        #expect(signed.map(\.predicateType) == ["https://example.com/test-result/v1"])
        #expect(try file.statements(about: image, by: nil).count == 2)
    }

    @Test func `a statement about another image is refused, signed or not`() throws {
        let key = try key("ed25519")
        for key in [key, nil] {
            #expect(throws: AttestationFault.otherSubject(image)) {
                try file("other subject").statements(about: image, by: key)
            }
        }
        #expect(throws: AttestationFault.otherPayload("text/plain")) {
            try file("other payload").statements(about: image, by: key)
        }
    }

    @Test func `a bit that changed anywhere in the envelope is found`() throws {
        let bytes = Array(try #require(samples.files["ed25519"]).utf8)
        let key = try key("ed25519")
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            guard
                let found = try? AttestationFile(changed).statements(about: image, by: key)
            else { continue }
            // Only changes in the hint about the key, and in names that are never read, go
            // unnoticed.
            #expect(found.count == 1)
            let text = String(decoding: changed, as: UTF8.self)
            #expect(!text.contains("\"keyid\": \"") || text != samples.files["ed25519"])
            let payload = try JSONValue(json: changed)["payload"]?.string
            #expect(payload == (try JSONValue(json: bytes))["payload"]?.string, "at \(index)")
        }
    }

    @Test(arguments: [
        ("", AttestationFault.empty),
        (" \n\n", .empty),
        ("{\"payload\":\"\"}", .badEnvelope(line: 1, member: "payloadType")),
        ("{\"payloadType\":\"x\",\"payload\":\"!\"}", .badEnvelope(line: 1, member: "payload")),
        (
            "{\"payloadType\":\"x\",\"payload\":\"\",\"signatures\":[]}",
            .badEnvelope(line: 1, member: "signatures")
        ),
        (
            "{\"payloadType\":\"x\",\"payload\":\"\",\"signatures\":[{}]}",
            .badEnvelope(line: 1, member: "sig")
        ),
    ])
    func `what is no envelope is refused with its line`(
        text: String,
        fault: AttestationFault
    ) {
        #expect(throws: fault) { try AttestationFile(Array(text.utf8)) }
    }

    @Test func `a line that is no JSON is named, and too many are refused`() throws {
        let good = try #require(samples.files["ed25519"])
        let fault = #expect(throws: AttestationFault.self) {
            try AttestationFile(Array((good + "\n{").utf8))
        }
        #expect(fault?.description.hasPrefix("line 2 is no JSON: ") == true)
        let many = String(repeating: good + "\n", count: 65)
        #expect(throws: AttestationFault.tooMany(65)) { try AttestationFile(Array(many.utf8)) }
    }

    @Test(arguments: [
        ("_type", "{\"_type\":\"https://in-toto.io/Statement/v2\"}"),
        ("subject", "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[]}"),
        (
            "predicateType",
            "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"digest\":{}}]}"
        ),
        (
            "digest",
            """
            {"_type":"https://in-toto.io/Statement/v0.1","subject":[{}],"predicateType":"x"}
            """
        ),
        (
            "sha256",
            """
            {"_type":"https://in-toto.io/Statement/v1","predicateType":"x",
             "subject":[{"digest":{"sha256":"12"}}]}
            """
        ),
    ])
    func `what is no statement is refused by the member that is wrong`(
        member: String,
        text: String
    ) throws {
        let payload = Base64.text(Array(text.utf8))
        let envelope = """
            {"payloadType":"\(InTotoStatement.payloadType)","payload":"\(payload)",
             "signatures":[{"sig":"AAAA"}]}
            """
        let file = try AttestationFile(Array(envelope.utf8))
        #expect(throws: AttestationFault.badStatement(member)) {
            try file.statements(about: image, by: nil)
        }
    }

    @Test func `a bill of materials tells what it is about and how much is in it`() throws {
        let text = """
            {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
             "metadata": {"component": {"type": "firmware", "name": "city", "version": "4.12.0"}},
             "components": [{"type": "library", "name": "a"}, {"type": "library", "name": "b"}],
             "vulnerabilities": [{"ratings": [{"score": 9.8}]}]}
            """
        let bill = try BillOfMaterials(Array(text.utf8))
        #expect(bill.specVersion == "1.6")
        #expect(bill.subject == "city 4.12.0")
        #expect(bill.components == 2)
    }

    @Test(arguments: [
        ("{}", "bomFormat"), ("{\"bomFormat\":\"SPDX\"}", "bomFormat"),
        ("{\"bomFormat\":\"CycloneDX\"}", "specVersion"),
        ("{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"components\":3}", "components"),
    ])
    func `what is no bill of materials is refused by the member that is wrong`(
        text: String,
        member: String
    ) {
        #expect(throws: AttestationFault.noBill(member: member)) {
            try BillOfMaterials(Array(text.utf8))
        }
    }
}
