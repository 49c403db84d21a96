package import Base

/// An in-toto statement: a claim about files, which it names by their digests.
package struct InTotoStatement: Sendable, Equatable {
    package static let payloadType = "application/vnd.in-toto+json"
    private static let types = [
        "https://in-toto.io/Statement/v0.1", "https://in-toto.io/Statement/v1",
    ]
    private static let mostSubjects = 4_096

    /// The type of the claim, such as `https://slsa.dev/provenance/v1`.
    package let predicateType: String
    /// The builder that the predicate names, if it does (SLSA).
    package let builder: String?
    private let subjects: Set<SHA256Digest>

    package init(_ payload: SignedPayload) throws(AttestationFault) {
        guard payload.type == Self.payloadType else { throw .otherPayload(payload.type) }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(json: payload.payload)
        } catch { throw .notJSON(line: 1, error) }
        guard let type = document["_type"]?.string, Self.types.contains(type) else {
            throw .badStatement("_type")
        }
        guard let list = document["subject"]?.array, (1...Self.mostSubjects).contains(list.count)
        else { throw .badStatement("subject") }
        guard let predicate = document["predicateType"]?.string, !predicate.isEmpty else {
            throw .badStatement("predicateType")
        }
        var subjects: Set<SHA256Digest> = []
        for subject in list {
            guard let digests = subject["digest"], digests.members != nil else {
                throw .badStatement("digest")
            }
            // Digests of other algorithms may name files, too; they are ignored.
            guard let text = digests["sha256"]?.string else { continue }
            guard let digest = SHA256Digest(text) else { throw .badStatement("sha256") }
            subjects.insert(digest)
        }
        self.subjects = subjects
        predicateType = predicate
        let said = document["predicate"]
        builder =
            said?["runDetails"]?["builder"]?["id"]?.string ?? said?["builder"]?["id"]?.string
    }

    func isAbout(_ digest: SHA256Digest) -> Bool { subjects.contains(digest) }
}

/// A file of attestations: one envelope, or one in each line.
package struct AttestationFile: Sendable {
    package static let longest: Int64 = 4 << 20
    static let most = 64

    private let payloads: [SignedPayload]

    package init(_ bytes: [UInt8]) throws(AttestationFault) {
        guard bytes.contains(where: { !Self.isSpace($0) }) else { throw .empty }
        // A single document may have several lines.
        if let document = try? JSONValue(json: bytes) {
            payloads = [try SignedPayload(document, line: 1)]
            return
        }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            .filter { line in line.element.contains { !Self.isSpace($0) } }
        guard lines.count <= Self.most else { throw .tooMany(lines.count) }
        var payloads: [SignedPayload] = []
        for (index, line) in lines {
            let document: JSONValue
            do throws(JSONError) {
                document = try JSONValue(json: Array(line))
            } catch { throw .notJSON(line: index + 1, error) }
            payloads.append(try SignedPayload(document, line: index + 1))
        }
        self.payloads = payloads
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D) ~= byte }

    /// The statements about an image: at least one, or an error.
    ///
    /// A file may contain statements about several images and by several signers. Statements about
    /// other images or not signed by the key are skipped. Without a key, no signature is checked.
    package func statements(
        about digest: SHA256Digest,
        by key: VerifyingKey?
    ) throws(AttestationFault) -> [InTotoStatement] {
        var statements: [InTotoStatement] = []
        var fault: AttestationFault?
        for payload in payloads {
            do throws(AttestationFault) {
                if let key, !payload.isSigned(by: key) { throw .notSigned }
                let statement = try InTotoStatement(payload)
                guard statement.isAbout(digest) else { throw .otherSubject(digest) }
                statements.append(statement)
            } catch { fault = fault ?? error }
        }
        guard !statements.isEmpty else { throw fault ?? .empty }
        return statements
    }
}

extension VerifyingKey {
    /// Reads a key as PEM text; the kind of the key determines its scheme.
    package init(pem text: [UInt8]) throws(AttestationFault) {
        for scheme in Scheme.allCases {
            if let key = VerifyingKey(pem: text, scheme: scheme) {
                self = key
                return
            }
        }
        throw .badKey
    }
}
