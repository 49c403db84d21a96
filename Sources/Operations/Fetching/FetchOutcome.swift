package import Commands
import Images
import Manifest

/// The results for the images of a plan that were to be fetched into the store.
package struct FetchOutcome: Sendable {
    let plan: FrozenPlan
    /// In the order of the plan.
    let results: [Result<FetchedImage, FetchFailure>]

    /// Whether a signal ended it before all images were tried.
    package var wasCut: Bool {
        results.contains {
            if case .failure(let failure) = $0 { failure.error == .cancelled } else { false }
        }
    }

    /// The images that are in the store.
    package var images: [FetchedImage] { results.compactMap { try? $0.get() } }

    /// One error for all images that cannot be fetched, nil when there is none.
    package var refusal: CommandError? {
        let failures = results.compactMap { result -> FetchFailure? in
            if case .failure(let failure) = result { failure } else { nil }
        }
        return FetchFailure.refusal(failures, of: results.count)
    }

    package var summary: FetchSummary {
        var summary = FetchSummary()
        summary.rollout = plan.name
        summary.rows = zip(plan.images, results).map { image, result in
            switch result {
            case .success(let fetched):
                FetchSummary.Row(
                    name: image.name,
                    digest: image.digest,
                    state: fetched.isNew ? .fetched : .present,
                    size: fetched.stored.size,
                    path: fetched.stored.path
                )
            case .failure:
                FetchSummary.Row(name: image.name, digest: image.digest, state: .failed)
            }
        }
        return summary
    }
}
