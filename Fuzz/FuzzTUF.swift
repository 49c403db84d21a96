import Base
import Images

/// Any bytes are metadata of each role, or they are refused; parsed metadata is searched and
/// verified.
func fuzzTUF(_ bytes: [UInt8]) {
    if let root = try? RootMetadata(bytes) {
        precondition(root.envelope.bytes == bytes, "documents are kept as they came")
        _ = try? Updater<MemoryFiles, Nothing>.begin(with: bytes, in: MemoryFiles())
        _ = try? TrustedState(
            MemoryFiles(["root.json": bytes]),
            now: WallTime(milliseconds: 0)
        )
    }
    _ = try? TimestampMetadata(bytes)
    _ = try? SnapshotMetadata(bytes)
    for role in [RoleName.targets, .delegated(ExactText("vendor"))] {
        guard let targets = try? TargetsMetadata(bytes, of: role) else { continue }
        precondition(targets.header.version > 0)
        _ = try? ReleaseLists(targets)
        for (name, file) in targets.files.sorted(by: { $0.key < $1.key }) {
            guard let path = TargetPath(name.text) else { continue }
            precondition(!path.fileName.utf8.contains(0x2F), "a file name leads nowhere else")
            precondition(path.fileName.utf8.count <= 200)
            _ = path.address(hash: file.hashes.preferred)
            _ = try? ReleaseStatement(custom: file.custom)
            _ = try? file.check(bytes, path)
        }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    _ = PathPattern(text).matches(ExactText(text))
    _ = WallTime(metadata: text)
    if let id = HardwareID(text) { precondition(id.covers(id) && id.overlaps(id)) }
    if let ledger = ReleaseLedger(bytes) {
        precondition(ReleaseLedger(ledger.bytes)?.lines.count == ledger.lines.count)
    }
}

/// A repository without documents.
private struct Nothing: MetadataSource {
    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        throw .notThere
    }
}
