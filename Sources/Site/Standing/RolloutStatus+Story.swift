package import Base
package import Commands
package import Show
import Store

extension RolloutStatus {
    /// The rollout as it stands now, for `--report`: as if a run had ended here.
    ///
    /// `journal` has the events of its last run, for what that run did to each vehicle; a fleet's
    /// rollout has only its standings.
    package func story(
        at now: WallTime,
        of journal: StandingJournal
    ) throws(CommandError) -> RunStory {
        var story = RunStory()
        guard let run = snapshot.run else { return story }
        func note(_ body: Event.Body, _ time: WallTime) {
            story.note(Event(number: 0, time: time, body: body))
        }
        func begin(_ adapters: [String]) {
            var start = RunStart(
                rollout: run.rollout,
                plan: run.plan,
                vehicles: chosen.count,
                adapters: adapters,
                run: run.number,
                seed: run.seed
            )
            start.gateway = run.gateway
            start.approvers = approvers
            note(.runStarted(start), run.started)
        }
        begin(snapshot.shared?.workers.map(\.gateway) ?? [])
        var recorded: RunEnd?
        if snapshot.shared == nil {
            let names = Set(chosen.map(\.vehicle))
            try journal.replay(run.number) { event in
                if case .runStarted(let start) = event.body {
                    begin(start.adapters)
                } else if case .runEnded(let end) = event.body {
                    recorded = end
                } else if event.body.vehicle.map(names.contains) ?? true {
                    story.note(event)
                }
            }
        }
        for (record, standing) in zip(chosen, standings) {
            note(.vehicleStands(record.vehicle, standing), record.updated)
        }
        guard let end = run.end, let code = end.exitCode, !snapshot.isAtWork else {
            story.stand(at: now, isAtWork: snapshot.isAtWork)
            return story
        }
        var last = RunEnd(
            rollout: run.rollout,
            counts: counts.outcomes,
            unfinished: counts.unfinished,
            exitCode: code,
            reason: end.reason(under: snapshot.rollout?.hold),
            took: recorded?.took ?? max(.zero, run.started.duration(to: end.time))
        )
        last.adapters = recorded?.adapters ?? []
        note(.runEnded(last), end.time)
        return story
    }
}
