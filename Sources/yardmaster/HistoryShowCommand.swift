import Base
import Commands
import Operations
import Show
import Site
import Store

/// `history show`: one run with the events of every vehicle; it can also write its reports again.
struct HistoryShowCommand {
    private let standings: Standings
    private let wish: RunWish
    private let reports: [ReportFile]
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        standings = try Standings(invocation, context)
        wish = try RunWish(invocation.arguments[0])
        reports = invocation[Command.report].compactMap { ReportFile($0) }
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        for report in reports { try report.checkPlace() }
        let (found, zone) = try await standings.run(wish)
        let run = found.run
        let common = try common.looking(
            in: KnownVehicles(state: standings.journal.state).ground(ofRollout: run.rollout)
        )
        var history = RunHistory(zone: zone)
        var story = RunStory()
        var general: [JSONValue] = []
        var vehicles: [VehicleID: [JSONValue]] = [:]
        for record in found.records {
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
                history.note(raw: record.json, of: record.vehicle, at: record.time)
                continue
            }
            let event = Event(number: record.number, time: record.time, body: body)
            history.note(event)
            story.note(event)
        }
        for report in reports { try report.write(of: story, zone: zone) }
        context.answer(
            common,
            document(found, general, vehicles),
            head(found, zone) + "\n" + history.text
        )
        return found.exitCode
    }

    private func head(_ found: ShownRun, _ zone: Zone) -> String {
        let run = found.run
        var text = found.source.map { $0.sentence + "\n" } ?? ""
        if let remark = found.remark { text += remark + "\n" }
        text += "run \(run.name) of rollout \(run.rollout.visible), plan \(run.plan)\n"
        guard let end = run.end else {
            return text + "has no end: \(found.open ?? "it goes on, or was cut off")\n"
        }
        let code = end.exitCode.map { "exit \($0): " } ?? ""
        text += "ended \(zone.text(end.time)), \(code)\(end.reason.visible)\n"
        return text
    }

    private func document(
        _ found: ShownRun,
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
            [JSONMember("schema", 1)]
                + (found.source.map { [JSONMember("source", $0.json)] } ?? [])
                + (found.run.json.members ?? [])
                + [JSONMember("events", .array(general)), JSONMember("vehicles", .array(list))]
        )
    }
}
