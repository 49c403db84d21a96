package import Domain
import Journal
package import Reports

extension RolloutStatus {
    /// The rollout as it stands now, for `--report`: as if a run had ended here.
    package func story(at now: WallTime) -> RunStory {
        var story = RunStory()
        guard let run = snapshot.run else { return story }
        var number = 0
        func note(_ body: Event.Body, _ time: WallTime) {
            number += 1
            story.note(Event(number: number, time: time, body: body))
        }
        var start = RunStart(
            rollout: run.rollout,
            plan: run.plan,
            vehicles: chosen.count,
            adapters: snapshot.shared?.workers.map(\.gateway) ?? [],
            run: run.number,
            seed: run.seed
        )
        start.gateway = run.gateway
        note(.runStarted(start), run.started)
        for (record, standing) in zip(chosen, standings) {
            note(.vehicleStands(record.vehicle, standing), record.updated)
        }
        guard let end = run.end, let code = end.exitCode, !snapshot.isAtWork else {
            story.stand(at: now, isAtWork: snapshot.isAtWork)
            return story
        }
        note(
            .runEnded(
                RunEnd(
                    rollout: run.rollout,
                    counts: counts.outcomes,
                    unfinished: counts.unfinished,
                    exitCode: code,
                    reason: end.reason,
                    took: run.started.duration(to: end.time)
                )
            ),
            end.time
        )
        return story
    }
}
