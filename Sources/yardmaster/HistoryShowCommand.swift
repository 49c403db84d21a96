import Commands
import Domain
import Journal
import Operations
import Reports
import Wire

/// `history show`: one run with the events of every vehicle; it can also write its reports again.
struct HistoryShowCommand {
    private let state: String
    /// Nil for the last run.
    private let number: Int?
    private let reports: [ReportFile]
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        number = try HistoryJournal.run(invocation.arguments[0])
        reports = invocation.values("report").compactMap { ReportFile($0) }
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        for report in reports { try report.checkPlace() }
        let (run, records) = try read()
        let common = try common.looking(
            in: KnownVehicles(state: state).ground(ofRollout: run.rollout)
        )
        let zone = StandingJournal(state: state, flags: "").zone(of: [run], context)
        var told = RunHistory(zone: zone)
        var story = RunStory()
        var general: [JSONValue] = []
        var vehicles: [VehicleID: [JSONValue]] = [:]
        for record in records {
            if let vehicle = record.vehicle, !common.takes(vehicle) { continue }
            let line = (try? JSONValue(json: record.json)) ?? .string(record.json)
            if let vehicle = record.vehicle {
                vehicles[vehicle, default: []].append(line)
            } else {
                general.append(line)
            }
            guard
                let body = EventReader.body(kind: record.kind, vehicle: record.vehicle, line)
            else {
                told.note(raw: record.json, of: record.vehicle, at: record.time)
                continue
            }
            let event = Event(number: record.number, time: record.time, body: body)
            told.note(event)
            story.note(event)
        }
        for report in reports {
            guard let reason = report.write(story, zone: zone) else { continue }
            throw CommandError(
                .cannotWrite,
                "the report \(report.path) was not written",
                because: [reason]
            )
        }
        if common.wantsJSON {
            context.console.result(document(run, general, vehicles).text + "\n")
        } else if !common.isQuiet {
            context.console.result(head(run, zone) + "\n" + told.text)
        }
        return .done
    }

    private func read() throws(CommandError) -> (RunRecord, [EventRecord]) {
        let found = try HistoryJournal.read(state) {
            view throws(JournalError) -> (RunRecord, [EventRecord])? in
            let run: RunRecord?
            if let number {
                run = try view.run(number)
            } else {
                run = try view.lastRun(rollout: nil)
            }
            guard let run else { return nil }
            return (run, try view.events(run: run.number))
        }
        guard let found else { throw HistoryJournal.unknown(run: number, in: state) }
        return found
    }

    private func head(_ run: RunRecord, _ zone: Zone) -> String {
        var text = "run \(run.number) of rollout \(run.rollout.visible), plan \(run.plan)\n"
        guard let end = run.end else { return text + "has no end: it goes on, or was cut off\n" }
        let code = end.exitCode.map { "exit \($0): " } ?? ""
        text += "ended \(zone.text(end.time)), \(code)\(end.reason.visible)\n"
        return text
    }

    private func document(
        _ run: RunRecord,
        _ general: [JSONValue],
        _ vehicles: [VehicleID: [JSONValue]]
    ) -> JSONValue {
        let list = vehicles.sorted { $0.key < $1.key }.map { id, events in
            JSONValue.object([
                "vehicle": .string(id.text),
                "outcome": events.last {
                    $0["kind"] == "vehicle-stands" || $0["kind"] == "vehicle-ended"
                }.flatMap { $0["outcome"] },
                "events": .array(events),
            ])
        }
        return .object(
            [JSONMember("schema", 1)] + (run.json.members ?? [])
                + [JSONMember("events", .array(general)), JSONMember("vehicles", .array(list))]
        )
    }
}
