package import Base

/// The origin of an image, and the signers that vouched for it when it was verified here.
///
/// It is a record for people, kept in the store: no trust depends on it.
package struct ImageProvenance: Sendable, Equatable {
    /// The origin of its bytes.
    struct Arrival: Sendable, Equatable {
        let origin: String
        let time: WallTime
    }

    /// A signer that vouched for it, and when that was first verified.
    struct Voucher: Sendable, Equatable {
        /// `digest`, `signature` or `tuf`.
        let level: String
        /// The key in minisign's form, or the repository's name in the manifest.
        let signer: String?
        /// The role of the repository that lists it.
        let role: String?
        /// The signer's comment about it, for people.
        let comment: String?
        let time: WallTime

        fileprivate func isSame(as other: Voucher) -> Bool {
            level == other.level && signer == other.signer && role == other.role
                && comment == other.comment
        }

        /// A text such as "signed by the key RW…, first seen 2026-11-22", or without the time.
        fileprivate func words(withTime: Bool) -> String {
            var text =
                switch level {
                case "signature": "signed by the key \(signer ?? "?")"
                case "tuf": "listed by the role \(role ?? "?") of the repository \(signer ?? "?")"
                default: "pinned by its SHA-256 in the manifest"
                }
            if let comment { text += ", '\(comment.visible)'" }
            return withTime ? text + ", first seen \(time)" : text
        }
    }

    /// A document that is kept beside it.
    package struct Document: Sendable, Equatable {
        package enum Kind: String, Sendable {
            case bill = "sbom"
            case attestation
        }

        let kind: Kind
        /// The title of the document, for people.
        let title: String
        /// The fingerprint of the key that signed it; nil when no key is required.
        let signer: String?
        /// Whether the manifest pins its bytes.
        let isPinned: Bool
        /// The origin of the document.
        let origin: String
        let time: WallTime

        init(
            kind: Kind,
            title: String,
            signer: String?,
            isPinned: Bool,
            origin: String,
            time: WallTime
        ) {
            self.kind = kind
            self.title = title
            self.signer = signer
            self.isPinned = isPinned
            self.origin = origin
            self.time = time
        }

        fileprivate func isSame(as other: Document) -> Bool {
            kind == other.kind && title == other.title && signer == other.signer
                && isPinned == other.isPinned && origin == other.origin
        }

        /// A text such as "attestation: https://slsa.dev/provenance/v1, signed by the key 12…".
        fileprivate func words(withTime: Bool) -> String {
            var text = kind == .bill ? "bill of materials: \(title)" : "attestation: \(title)"
            switch (kind, signer, isPinned) {
            case (_, let signer?, _): text += ", signed by the key \(signer)"
            case (.bill, nil, true): text += ", pinned by its SHA-256 in the manifest"
            case (_, nil, _): text += ", not verified: no key is given"
            }
            text += ", from \(origin.visible)"
            return withTime ? text + ", first seen \(time)" : text
        }

        fileprivate init?(_ value: JSONValue) {
            guard let kind = value["kind"]?.string.flatMap({ Kind(rawValue: $0) }),
                let title = value["title"]?.string, let origin = value["origin"]?.string,
                let time = value["time"]?.integer
            else { return nil }
            self.init(
                kind: kind,
                title: title,
                signer: value["signer"]?.string,
                isPinned: value["pinned"]?.bool ?? false,
                origin: origin,
                time: WallTime(milliseconds: time)
            )
        }

        fileprivate var value: JSONValue { value("time", .integer(time.milliseconds)) }

        fileprivate var document: JSONValue { value("since", .string(time.description)) }

        private func value(_ name: String, _ time: JSONValue) -> JSONValue {
            .object(
                [
                    JSONMember("kind", .string(kind.rawValue)), JSONMember("title", .string(title)),
                ] + (signer.map { [JSONMember("signer", .string($0))] } ?? [])
                    + [
                        JSONMember("pinned", .bool(isPinned)),
                        JSONMember("origin", .string(origin)), JSONMember(name, time),
                    ]
            )
        }
    }

    private static let most = 64

    private(set) var arrival: Arrival?
    private(set) var vouchers: [Voucher] = []
    private(set) var documents: [Document] = []

    package init() {}

    /// Reads the stored facts; empty when they cannot be read.
    package init(record: [UInt8]?) {
        guard let record, let document = try? JSONValue(json: record),
            document["form"]?.integer == 1
        else { return }
        if let origin = document["origin"]?.string, let time = document["arrived"]?.integer {
            arrival = Arrival(origin: origin, time: WallTime(milliseconds: time))
        }
        for value in document["vouchers"]?.array ?? [] {
            guard let level = value["level"]?.string, let time = value["time"]?.integer else {
                continue
            }
            vouchers.append(
                Voucher(
                    level: level,
                    signer: value["signer"]?.string,
                    role: value["role"]?.string,
                    comment: value["comment"]?.string,
                    time: WallTime(milliseconds: time)
                )
            )
        }
        documents = (document["documents"]?.array ?? []).compactMap { Document($0) }
    }

    /// Replaces the documents; those that were already known keep their time.
    mutating func note(_ found: [Document]) {
        documents = found.prefix(Self.most).map { document in
            documents.first { $0.isSame(as: document) } ?? document
        }
    }

    /// Adds new facts; those that were already known keep their time.
    mutating func note(_ arrival: Arrival?, _ voucher: Voucher) {
        if let arrival { self.arrival = arrival }
        guard !vouchers.contains(where: { $0.isSame(as: voucher) }) else { return }
        vouchers.append(voucher)
        vouchers = vouchers.suffix(Self.most)
    }

    /// The record for the store, which keeps it as one line.
    var record: [UInt8] {
        JSONValue.object([
            "form": 1,
            "origin": arrival.map { .string($0.origin) },
            "arrived": arrival.map { .integer($0.time.milliseconds) },
            "vouchers": .array(
                vouchers.map { voucher in
                    .object([
                        "level": .string(voucher.level),
                        "signer": voucher.signer.map { .string($0) },
                        "role": voucher.role.map { .string($0) },
                        "comment": voucher.comment.map { .string($0) },
                        "time": .integer(voucher.time.milliseconds),
                    ])
                }
            ),
            "documents": documents.isEmpty ? nil : .array(documents.map(\.value)),
        ]).bytes
    }

    /// One sentence for each known fact.
    package var words: [String] { words(withTimes: true) }

    /// The times can be left out, for output that must be reproducible.
    func words(withTimes: Bool) -> [String] {
        let came = arrival.map {
            "came from \($0.origin.visible)" + (withTimes ? ", \($0.time)" : "")
        }
        return (came.map { [$0] } ?? []) + vouchers.map { $0.words(withTime: withTimes) }
            + documents.map { $0.words(withTime: withTimes) }
    }

    /// The JSON document for programs.
    package var document: JSONValue {
        .object([
            "origin": arrival.map { .string($0.origin) },
            "arrived": arrival.map { .string($0.time.description) },
            "vouchers": .array(
                vouchers.map { voucher in
                    .object([
                        "level": .string(voucher.level),
                        "signer": voucher.signer.map { .string($0) },
                        "role": voucher.role.map { .string($0) },
                        "comment": voucher.comment.map { .string($0) },
                        "since": .string(voucher.time.description),
                    ])
                }
            ),
            "documents": documents.isEmpty ? nil : .array(documents.map(\.document)),
        ])
    }
}
