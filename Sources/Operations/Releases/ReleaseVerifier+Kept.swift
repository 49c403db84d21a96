import Commands
import Images

/// Files that belong to an image and are kept with it after they were verified: signatures, bills
/// of materials, attestations.
extension ReleaseVerifier {
    /// The content of such a file: the kept one when it has precedence, else the one that is
    /// fetched.
    ///
    /// `holds` decides whether the kept content still counts. Without the network, a kept file that
    /// was verified before is used.
    func meaning<Meaning>(
        kept: [UInt8]?,
        holds: (Meaning) -> Bool,
        fetch: () async throws(SourceError) -> [UInt8],
        read: ([UInt8]) throws(CommandError) -> Meaning,
        keep: ([UInt8]) throws(CommandError) -> Void,
        refusal: (CommandError.Kind, SourceError) -> CommandError
    ) async throws(CommandError) -> Meaning {
        if supply.prefersKept, let kept, let meaning = try? read(kept), holds(meaning) {
            return meaning
        }
        let bytes: [UInt8]
        do throws(SourceError) {
            bytes = try await fetch()
        } catch {
            guard case .unreachable = error else { throw refusal(.trust, error) }
            guard let kept else { throw refusal(.unavailable, error) }
            return try read(kept)
        }
        let meaning = try read(bytes)
        try keep(bytes)
        return meaning
    }
}
