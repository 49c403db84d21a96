package import Base

/// The minisign keys that a depot knows, each with its own record of releases.
///
/// A key is known when a person added it (`trust add`), or when a manifest of this machine named it
/// and one of its images was trusted. Releases are recorded for the key that signed them, so that
/// one key cannot block the releases of another.
package struct KeyBook<Files: TrustFiles>: Sendable {
    private static var mark: String { "releases-" }
    /// The old name, from before each key had a record of its own.
    private static var commonName: String { "releases" }
    private static var limit: Int64 { 1 << 20 }

    private let store: TrustStore<Files>

    package init(_ store: TrustStore<Files>) { self.store = store }

    static func recordName(of key: MinisignKey) -> String { mark + Hex.text(key.encoded) }

    package func isKnown(_ key: MinisignKey) throws(TrustError) -> Bool {
        try store.read(Self.recordName(of: key), limit: Self.limit) != nil
    }

    /// In ascending order of their encoded form.
    package func keys() throws(TrustError) -> [MinisignKey] {
        let names: [String]
        do throws(StorageError) { names = try store.files.names() } catch {
            throw .storage(error)
        }
        return names.compactMap { name in
            guard name.hasPrefix(Self.mark) else { return nil }
            return Hex.bytes(name.dropFirst(Self.mark.count)).flatMap { MinisignKey(encoded: $0) }
        }
    }

    /// The releases that were trusted by a key; nil when the record is damaged.
    package func record(of key: MinisignKey) throws(TrustError) -> ReleaseLedger? {
        if let own = try store.read(Self.recordName(of: key), limit: Self.limit) {
            return ReleaseLedger(own)
        }
        // A key from before the records were divided continues with the common record.
        guard let common = try store.read(Self.commonName, limit: Self.limit) else {
            return ReleaseLedger()
        }
        return ReleaseLedger(common)
    }

    package func keep(_ record: ReleaseLedger, of key: MinisignKey) throws(TrustError) {
        try store.replace(Self.recordName(of: key), with: record.bytes)
    }
}

/// The reset of a record of releases by a person, with the reason.
package struct LedgerReset: Sendable, Equatable {
    package let time: WallTime
    package let reason: String
    package let author: String
    /// The key in minisign's form; nil for the record of a repository.
    package let key: String?
    /// The record before the reset.
    let before: ReleaseLedger

    package init(
        time: WallTime,
        reason: String,
        author: String,
        key: String?,
        before: ReleaseLedger
    ) {
        self.time = time
        self.reason = reason
        self.author = author
        self.key = key
        self.before = before
    }

    init?(_ value: JSONValue) {
        guard let time = value["time"]?.integer, let reason = value["reason"]?.string,
            let author = value["author"]?.string,
            let before = value["before"].flatMap({ ReleaseLedger($0.bytes) })
        else { return nil }
        self.time = WallTime(milliseconds: time)
        self.reason = reason
        self.author = author
        key = value["key"]?.string
        self.before = before
    }

    var value: JSONValue {
        .object([
            "time": .integer(time.milliseconds),
            "reason": .string(reason),
            "author": .string(author),
            "key": key.map { .string($0) },
            "before": (try? JSONValue(json: before.bytes)) ?? .null,
        ])
    }
}

extension TrustStore {
    private static var resetsName: String { "resets" }

    /// All resets, the oldest first; nil when the list is damaged.
    package func resets() throws(TrustError) -> [LedgerReset]? {
        guard let bytes = try read(Self.resetsName, limit: 16 << 20) else { return [] }
        guard let document = try? JSONValue(json: bytes), document["form"]?.integer == 1,
            let list = document["resets"]?.array
        else { return nil }
        let resets = list.compactMap { LedgerReset($0) }
        return resets.count == list.count ? resets : nil
    }

    /// Stores a reset; the record itself is changed only afterwards.
    package func note(_ reset: LedgerReset) throws(TrustError) {
        let all = (try resets() ?? []) + [reset]
        try replace(
            Self.resetsName,
            with: JSONValue.object(["form": 1, "resets": .array(all.map(\.value))]).bytes
        )
    }
}
