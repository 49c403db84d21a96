package import Commands
package import Trust

/// Files that come with an image and are kept with it once they were right: signatures, bills of
/// materials, attestations.
extension ReleaseVerifier {
    /// What such a file says: the kept one where that comes first, else the one that is fetched.
    ///
    /// `holds` says whether the kept verdict still counts. Where the network is missing, what was
    /// right with one is right without.
    package func meaning<Meaning>(
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
