package import Base
import Manifest
package import Radio

/// The conditions of one update: what must hold before the image is sent, and before the module
/// keeps it.
///
/// A debt keeps their digest. They are in force until it is paid, whichever run pays it.
package struct UpdateTerms: Sendable {
    /// Conditions on the module, step by step.
    ///
    /// Labels are not among them: an update that was begun is finished even if the fleet list has
    /// changed since.
    package var requires: [[Precondition]] = []
    package var healthy: [PropertyTest] = []
    package var judge: [String] = []
    package var within = Duration.seconds(120)
    /// How the vehicle ends when one of `requires` does not hold, step by step.
    var otherwise: [Otherwise] = []

    package init() {}

    /// Nil when there are no conditions.
    package var digest: SHA256Digest? {
        guard !(requires.isEmpty && healthy.isEmpty && judge.isEmpty) else { return nil }
        var lines = zip(requires, otherwise).map { list, otherwise in
            "require \(otherwise.rawValue) "
                + list.map { "\($0.name) \($0.required)" }.joined(separator: ", ")
        }
        lines += healthy.map { "healthy \($0.property) \($0)" }
        if !healthy.isEmpty || !judge.isEmpty { lines.append("within \(within.brief)") }
        // Each word of the program has its length, so that no two programs give the same text.
        lines += judge.map { "judge \($0.utf8.count) \($0)" }
        return SHA256.digest(of: Array(lines.joined(separator: "\n").utf8))
    }

    /// What a person calls them.
    package var words: String {
        var words: [String] = []
        if !requires.isEmpty { words.append("`require`") }
        if !healthy.isEmpty { words.append("`healthy`") }
        if !judge.isEmpty { words.append("`judge`") }
        return words.joined(separator: ", ")
    }
}

extension [JobStep] {
    /// The update, or the stage of one, that brings this image, with the place of its step.
    package func update(of image: SHA256Digest) -> (place: Int, update: UpdateJob)? {
        for (place, step) in enumerated() {
            guard case .update(let update) = step else { continue }
            if let stage = update.stages.first(where: { $0.digest == image }) {
                return (place, stage)
            }
        }
        return nil
    }

    /// The conditions of an update at this place.
    package func terms(of update: UpdateJob, at place: Int) -> UpdateTerms {
        var terms = UpdateTerms()
        for case .require(let list, let otherwise) in prefix(place) where otherwise != .warn {
            let asked = list.filter(\.needsModule)
            guard !asked.isEmpty else { continue }
            terms.requires.append(asked)
            terms.otherwise.append(otherwise)
        }
        terms.healthy = update.healthy
        terms.judge = update.judge
        terms.within = update.healthyWithin
        return terms
    }
}

extension UpdateJob {
    /// The same update under the conditions with which it was begun.
    func under(_ terms: UpdateTerms) -> UpdateJob {
        var update = self
        (update.healthy, update.judge) = (terms.healthy, terms.judge)
        update.healthyWithin = terms.within
        return update
    }
}
