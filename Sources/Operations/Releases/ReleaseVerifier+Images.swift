import Base
import Commands
import Images
package import Manifest

extension ReleaseVerifier where Supply == NetworkSupply {
    /// Verifies images that are in the store, with documents from the network.
    package static func judge(
        _ images: [FetchedImage],
        of plan: FrozenPlan,
        state: String,
        prefersKept: Bool = false
    ) async throws(TrustRefusal) -> [TrustVerdict] {
        let fetching: DocumentFetching
        do throws(CommandError) {
            fetching = try DocumentFetching(state: state, plan.fetch)
        } catch { throw TrustRefusal(image: nil, error: error) }
        let verifier = ReleaseVerifier(
            plan: plan,
            supply: NetworkSupply(
                state: state,
                downloads: fetching.downloads,
                prefersKept: prefersKept
            ),
            now: RealTime().wallTime
        )
        let result: Result<[TrustVerdict], TrustRefusal>
        do throws(TrustRefusal) {
            let verdicts = try await verifier.judge { (image) throws(CommandError) in
                guard let fetched = images.first(where: { $0.planned.name == image.name }) else {
                    throw CommandError(.internal, "the image \(image.name) was not fetched")
                }
                do throws(ImageError) {
                    return try fetched.stored.bytes()
                } catch { throw CommandError(.trust, error.description) }
            }
            result = .success(verdicts)
        } catch { result = .failure(error) }
        await fetching.stop()
        let verdicts = try result.get()
        verdicts.note(images.map { ($0.stored.digest, $0.origin) }, state: state)
        return verdicts
    }

    /// The same for commands that only need the reason of a refusal.
    static func verdicts(
        _ images: [FetchedImage],
        of plan: FrozenPlan,
        state: String,
        prefersKept: Bool = false
    ) async throws(CommandError) -> [TrustVerdict] {
        do throws(TrustRefusal) {
            return try await judge(images, of: plan, state: state, prefersKept: prefersKept)
        } catch { throw error.error }
    }
}

extension [TrustVerdict] {
    /// Records the origin of each image that was just fetched, and the signers that vouched for it.
    ///
    /// The record is for people: a night's work does not end because it cannot be written.
    func note(_ images: [(digest: SHA256Digest, origin: String?)], state: String) {
        let now = RealTime().wallTime
        let judged = Array<_>(zip(images, self))
        let records = ImageRecords(StoreFolder(stateDirectory: state))
        try? records.update(judged.map(\.0.digest)) { index, known in
            let (image, verdict) = judged[index]
            var provenance = ImageProvenance(record: known)
            provenance.note(
                image.origin.map { ImageProvenance.Arrival(origin: $0, time: now) },
                verdict.voucher(at: now)
            )
            provenance.note(verdict.attached)
            return provenance.record
        }
    }
}
